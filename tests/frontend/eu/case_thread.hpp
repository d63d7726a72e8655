#pragma once
// A thread for lowering cases, with the surfaces, images, samplers, scratch and memory that cases name.
// Independent of engines except for the layout of their state.
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/image/format.hpp"
#include "memory/surface.hpp"
#include "tests/frontend/eu/case_file.hpp"

namespace eum::test {

/// A thread's state and everything it can access; freed with the memory that holds it.
class CaseThread {
 public:
  explicit CaseThread(const jit::StateLayout& layout)
      : layout_(layout), memory_(static_cast<std::byte*>(std::aligned_alloc(64, layout.size)), &std::free) {
    std::memset(memory_.get(), 0, layout.size);
    new (memory_.get()) jit::ThreadState;
    environment_.surfaces = table_.surfaces.data();
    state().environment = &environment_;
    state().budget = 1'000'000;
    surface_bytes_.resize(mem::binding_table_size);
    for (mem::image::SamplerState& sampler : samplers_) sampler.non_normalized = true;
    samplers_[1].address.fill(mem::image::AddressControl::CLAMP_BORDER);
    environment_.samplers = samplers_.data();
    set_sampler_count(2);
    environment_.scratch = scratch_.data();
    environment_.scratch_bytes = scratch_.size();
    environment_.space = &space_;
    environment_.heap = {memory_address, static_cast<std::uint32_t>(memory_bytes_.size()), memory_address,
                         true};
    if (!space_.map(memory_address, memory_bytes_.size(), memory_bytes_.data(), mem::Access::ReadWrite,
                    "memory") ||
        !space_.map(low_address, low_bytes_.size(), low_bytes_.data(), mem::Access::ReadWrite, "low"))
      throw std::runtime_error("the address space refuses the test's memory");
  }
  void set_image(const ImageShape& shape) {
    const mem::image::FormatInfo* format = mem::image::find_format(shape.format);
    if (format == nullptr) throw std::runtime_error("no format " + shape.format);
    mem::image::SurfaceState& image = table_.surfaces[shape.surface].image;
    image.type = mem::image::SurfaceType::SURFTYPE_2D;
    image.format = format->code;
    image.width = shape.width;
    image.height = shape.height;
    image.depth = 1;
    image.pitch = shape.width * format->bytes;
  }
  /// At most 16.
  void set_sampler_count(std::uint32_t count) { environment_.sampler_count = count; }
  void set_linear_filter() {
    for (mem::image::SamplerState& sampler : samplers_)
      sampler.min_filter = sampler.mag_filter = mem::image::MapFilter::LINEAR;
  }
  const jit::StateLayout& layout() const { return layout_; }
  jit::ThreadState& state() { return *reinterpret_cast<jit::ThreadState*>(memory_.get()); }
  std::byte* file() { return layout_.file_of(state()); }
  std::uint32_t* masks() { return layout_.masks_of(state()); }

  /// The bytes of the place, starting at its first element.
  std::byte* place(const Contents& c) {
    switch (c.place) {
      case Contents::Place::File:
        return file() + c.offset;
      case Contents::Place::Flags:
        return layout_.flags_of(state()) + c.offset / 8;
      case Contents::Place::Mask:
        return reinterpret_cast<std::byte*>(masks());
      case Contents::Place::Scratch:
        return scratch_.data() + c.offset;
      case Contents::Place::Memory:
        return memory_bytes_.data() + c.offset;
      case Contents::Place::LowMemory:
        return low_bytes_.data() + c.offset;
      case Contents::Place::Surface:
        break;
    }
    return surface_bytes_[c.offset].data();
  }
  void set(const Contents& c) {
    unsigned bytes = gen::size_of(c.type);
    if (c.place == Contents::Place::Surface) {
      surface_bytes_[c.offset].resize(bytes * c.elements.size());
      table_.surfaces[c.offset] =
          mem::buffer_surface(surface_bytes_[c.offset].data(), surface_bytes_[c.offset].size(), 0x10000);
      if (c.offset == shared_local_memory) {
        environment_.slm = surface_bytes_[c.offset].data();
        environment_.slm_bytes = surface_bytes_[c.offset].size();
      }
    }
    for (std::size_t i = 0; i < c.elements.size(); ++i)
      if (!c.elements[i].keep) std::memcpy(place(c) + i * bytes, &c.elements[i].bits, bytes);
  }

 private:
  jit::StateLayout layout_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
  mem::BindingTable table_;
  std::vector<std::vector<std::byte>> surface_bytes_;
  static constexpr unsigned shared_local_memory = 254;  // as messages name it
  static constexpr std::uint64_t memory_address = 0x100000000, low_address = 0x2000;
  std::vector<std::byte> low_bytes_ = std::vector<std::byte>(4096);
  std::vector<std::byte> scratch_ = std::vector<std::byte>(4096);
  std::vector<std::byte> memory_bytes_ = std::vector<std::byte>(4096);
  mem::AddressSpace space_;
  std::array<mem::image::SamplerState, 16> samplers_;
  jit::Environment environment_;
};

}  // namespace eum::test
