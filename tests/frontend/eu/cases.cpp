// Runs every lowering case of cases/*.gen on the engines and compares registers, flags, masks and surfaces.
#include <fmt/format.h>
#include <algorithm>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/image/format.hpp"
#include "memory/surface.hpp"
#include "tests/frontend/eu/case_file.hpp"

namespace eum::test {
namespace {

constexpr unsigned char untouched = 0xa5;

/// A thread's state with what it reaches; freed with the memory that it lives in.
class Thread {
 public:
  explicit Thread(const jit::StateLayout& layout)
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
    environment_.sampler_count = static_cast<std::uint32_t>(samplers_.size());
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
  void set_linear_filter() {
    for (mem::image::SamplerState& sampler : samplers_)
      sampler.min_filter = sampler.mag_filter = mem::image::MapFilter::LINEAR;
  }
  jit::ThreadState& state() { return *reinterpret_cast<jit::ThreadState*>(memory_.get()); }
  std::byte* file() { return layout_.file_of(state()); }
  std::uint32_t* masks() { return layout_.masks_of(state()); }

  /// Bytes of the place from its first element on.
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
  std::array<mem::image::SamplerState, 2> samplers_;
  jit::Environment environment_;
};

bool is_nan_bits(gen::Type type, std::uint64_t bits) {
  if (type == gen::Type::df) return (bits << 1) > 0xffe0000000000000u;
  if (type == gen::Type::f) return (bits & 0x7fffffff) > 0x7f800000;
  return (bits & 0x7fff) > 0x7c00;
}

void check(const Contents& expected, Thread& thread, const std::vector<std::byte>& initial_file) {
  unsigned bytes = gen::size_of(expected.type);
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    const Contents::Element& element = expected.elements[i];
    std::uint64_t found = 0, wanted = element.bits;
    std::memcpy(&found, thread.place(expected) + i * bytes, bytes);
    if (element.keep) {
      REQUIRE(expected.place == Contents::Place::File);
      wanted = 0;
      std::memcpy(&wanted, initial_file.data() + expected.offset + i * bytes, bytes);
    }
    INFO(expected.text << " element " << i << ": expected 0x" << std::hex << wanted << ", found 0x" << found);
    bool same = found == wanted || (element.any_nan && is_nan_bits(expected.type, found));
    CHECK(same);
  }
}

void run_case(const Case& c, jit::Engine& engine) {
  eu::LowerOptions options;
  options.system_routine = c.system_routine;
  for (const Contents& contents : c.before)
    if (contents.place == Contents::Place::File &&
        contents.offset == gen::target(gen::Family::Gen9).offset(eu::StateRegister::Control))
      options.modes = static_cast<std::uint32_t>(contents.elements[0].bits);
  Result<ir::Function> function =
      gen::lower_kernel(c.code, gen::Family::Gen9, c.simd, c.name, std::pmr::get_default_resource(), options);
  if (!function) {
    FAIL_CHECK(function.error().message);
    return;
  }
  if (Result<void> good = ir::verify(*function); !good) {
    FAIL_CHECK(good.error().message);
    return;
  }
  std::vector<std::string> texts = function->strings;
  Result<std::unique_ptr<jit::Executable>> executable = engine.compile(*function, {});
  if (!executable) {
    FAIL_CHECK(executable.error().message);
    return;
  }
  Thread thread((*executable)->layout());
  std::memset(thread.file(), untouched, gen::target(gen::Family::Gen9).grf_file_bytes());
  thread.masks()[0] = c.simd == 32 ? ~0u : (1u << c.simd) - 1;
  for (const Contents& contents : c.before) thread.set(contents);
  for (const ImageShape& image : c.images) thread.set_image(image);
  if (c.linear_filter) thread.set_linear_filter();
  std::vector<std::byte> initial(thread.file(), thread.file() + gen::target(gen::Family::Gen9).file_bytes());

  jit::Status status = (*executable)->run(thread.state());
  if (c.fault == "budget") {
    CHECK(status == jit::Status::Paused);
    return;
  }
  if (!c.fault.empty()) {
    REQUIRE(status == jit::Status::Faulted);
    const jit::Fault& fault = thread.state().fault;
    if (fault.kind == jit::FaultKind::BadRegister) {
      CHECK(fmt::format("register address {:#x}", fault.address) == c.fault);
    } else if (fault.kind == jit::FaultKind::BadJump) {
      CHECK(fmt::format("jump to {:#x}", fault.address) == c.fault);
    } else if (fault.kind == jit::FaultKind::Image) {
      CHECK_THAT(fault.reason, Catch::Contains(c.fault));
    } else {
      REQUIRE(jit::has_text(fault.kind));
      CHECK_THAT(texts.at(fault.address), Catch::Contains(c.fault));
    }
    for (const Contents& contents : c.after) check(contents, thread, initial);
    return;
  }
  if (status == jit::Status::Faulted && thread.state().fault.kind == jit::FaultKind::Unsupported) {
    FAIL_CHECK(texts.at(thread.state().fault.address));
    return;
  }
  CHECK(status == jit::Status::Exited);
  CHECK_FALSE(c.after.empty());
  for (const Contents& contents : c.after) check(contents, thread, initial);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("instructions mean what the manual says") {
  Result<std::unique_ptr<jit::Engine>> avx2 = jit::make_avx2_engine();
  if (!avx2) FAIL(avx2.error().message);
  std::unique_ptr<jit::Engine> reference = jit::make_reference_engine();
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(EUMULATE_SOURCE_DIR "/tests/frontend/eu/cases"))
    if (entry.path().extension() == ".gen") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  for (const std::filesystem::path& file : files) {
    Result<std::vector<Case>> cases = parse_cases(read_text(file));
    if (!cases) FAIL(file.filename().string() << " " << cases.error().message);
    REQUIRE_FALSE(cases->empty());
    for (const Case& c : *cases) {
      INFO(file.filename().string() << ":" << c.line << " " << c.name);
      REQUIRE_FALSE(c.code.empty());
      run_case(c, **avx2);
      INFO("on the reference engine");
      run_case(c, *reference);
    }
  }
}

}  // namespace eum::test
