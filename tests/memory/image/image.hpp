#pragma once
// An image in host memory for tests, and messages that access it.
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "memory/image/format.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/message.hpp"
#include "memory/surface.hpp"

namespace test_image {

using namespace eum::mem;
using namespace eum::mem::image;

inline std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
inline float number(std::uint32_t b) { return std::bit_cast<float>(b); }

struct Image {
  SurfaceState state;
  std::vector<std::byte> memory;

  Image() = default;
  Image(SurfaceType type, const char* format, std::uint32_t width, std::uint32_t height = 1,
        std::uint32_t depth = 1, TileMode tiling = TileMode::LINEAR, unsigned levels = 1,
        bool array = false) {
    const FormatInfo* info = find_format(format);
    REQUIRE(info != nullptr);
    state.type = type;
    state.format = info->code;
    state.width = width;
    state.height = height;
    state.depth = depth;
    state.view_extent = type == SurfaceType::SURFTYPE_CUBE ? 6 * depth : depth;
    state.tiling = tiling;
    state.mip_count = static_cast<std::uint8_t>(levels);
    state.array = array;
    choose_layout(state);
    const auto valid = check(state);
    if (!valid) FAIL(valid.error().message);
    memory.resize(surface_bytes(state));
  }

  const FormatInfo& format() const { return *find_format(state.format); }
  Surface surface() {
    Surface s = buffer_surface(memory.data(), memory.size(), 0x10000);
    s.image = state;
    return s;
  }
  void randomize(std::mt19937& random) {
    for (std::byte& b : memory) b = static_cast<std::byte>(random());
  }
  Texel get(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice) const {
    return format().decode(memory.data() + texel_offset(state, level, x, y, slice), 0, 0);
  }
  void set(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice, const Texel& texel) {
    format().encode(texel, memory.data() + texel_offset(state, level, x, y, slice));
  }
  void fill(unsigned level, std::uint32_t slice, const Texel& texel) {
    const auto size = level_size(state, level);
    for (std::uint32_t y = 0; y < size[1]; ++y)
      for (std::uint32_t x = 0; x < size[0]; ++x) set(level, x, y, slice, texel);
  }
};

/// A message of eight lanes, with the parameters in the order of its operation.
struct Message {
  SampleMessage message;
  SamplerState sampler;
  SampleControl control;
  std::uint32_t mask = 0xff;
  std::vector<std::uint32_t> data;

  explicit Message(SampleOp op) {
    message.op = op;
    message.parameters = info(op).parameters.count;
    data.resize(16 * 8);
  }
  std::uint32_t& at(Parameter parameter, unsigned lane) {
    const auto k = info(message.op).parameters.find(parameter);
    REQUIRE(k);
    return data[*k * 8 + lane];
  }
  /// Sets the parameter to the same value in all lanes.
  Message& set(Parameter parameter, float value) {
    for (unsigned lane = 0; lane < 8; ++lane) at(parameter, lane) = bits(value);
    return *this;
  }
  Message& set(Parameter parameter, int value) {
    for (unsigned lane = 0; lane < 8; ++lane) at(parameter, lane) = static_cast<std::uint32_t>(value);
    return *this;
  }
  ImageFault run(Surface surface, AddressSpace* space = nullptr) {
    const SampleCall call{&surface, &sampler, control, mask, data.data(), space};
    return sample(message, call);
  }
  Texel result(unsigned lane = 0) const {
    return {data[lane], data[8 + lane], data[16 + lane], data[24 + lane]};
  }
  /// Runs the message, which must not fault, and returns a lane's texel.
  Texel texel(Image& image, unsigned lane = 0) {
    const ImageFault fault = run(image.surface());
    if (fault) FAIL("a fault: " << fault.reason << " at " << fault.address);
    return result(lane);
  }
};

}  // namespace test_image
