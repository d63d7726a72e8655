// The payload: registers that compiled code reads, local ids, walks that cover a range exactly once, errors.
#include "runtime/payload.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>

#include "binaries.hpp"
#include "runtime/dispatch/thread_payload.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/relocate.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

Program load(const std::string& name, bool corpus = false) {
  auto program = load_program(corpus ? binaries::corpus(name) : binaries::own(name));
  if (!program) FAIL(program.error().message);
  return std::move(*program);
}

alignas(64) std::array<std::byte, 4096> memory{};

ArgumentValue buffer(std::uint64_t address, std::uint64_t size = 4096) {
  return BufferValue{mem::buffer_surface(memory.data(), size, address)};
}

template <class T>
T at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  REQUIRE(offset + sizeof(T) <= bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// r<number>.<sub> in the disassembly's numbering, for 4-byte types.
template <class T>
T reg(std::span<const std::byte> registers, unsigned number, unsigned sub) {
  return at<T>(registers, number * 32 + sub * 4);
}

Payload build(const Kernel& kernel, const std::vector<ArgumentValue>& arguments, const NdRange& range,
              const ImplicitBuffers& buffers = {}) {
  auto payload = build_payload(kernel, arguments, range, buffers);
  if (!payload) FAIL(payload.error().message);
  return std::move(*payload);
}

std::string error_of(const Kernel& kernel, const std::vector<ArgumentValue>& arguments, const NdRange& range,
                     const ImplicitBuffers& buffers = {}) {
  const auto payload = build_payload(kernel, arguments, range, buffers);
  REQUIRE_FALSE(payload);
  return payload.error().message;
}

constexpr std::size_t r0_bytes = 32;

/// The general registers of a thread of `walk`; bytes that the payload does not set are 0xcc.
std::vector<std::byte> registers_of(const Payload& payload, const Walk& walk, std::uint32_t thread,
                                    const Size3& group = {}, std::uint32_t slot = 0) {
  ThreadCode code;
  code.simd = payload.kernel->simd_size;
  WalkerCommand command = walker_command(payload, walk);
  command.code = &code;
  const ThreadPayload start(command);
  code.cr0_offset = static_cast<std::uint32_t>(start.bytes()) + 64;
  code.sr0_offset = code.cr0_offset + 32;
  std::vector<std::byte> file(code.sr0_offset + 32, std::byte{0xcc});
  start.write(file.data(), thread);
  const auto r0 = start.header(group, slot, thread);
  std::memcpy(file.data(), r0.data(), sizeof r0);
  file.resize(code.cr0_offset);
  return file;
}

std::size_t register_bytes(const Kernel& kernel) {
  return r0_bytes + kernel.per_thread_bytes + kernel.cross_thread_bytes;
}

std::uint32_t dispatch_mask(const Payload& payload, const Walk& walk, std::uint32_t thread) {
  ThreadCode code;
  code.simd = payload.kernel->simd_size;
  WalkerCommand command = walker_command(payload, walk);
  command.code = &code;
  return ThreadPayload(command).dispatch_mask(thread);
}

NdRange range_1d(std::uint32_t global, std::uint32_t local = 0) {
  NdRange range;
  range.global[0] = global;
  range.local[0] = local;
  if (local != 0) range.local = {local, 1, 1};
  return range;
}

}  // namespace

// Register numbers from iga64's disassembly of saxpy: r9.0 times r3.1 (a copy of r0.1) plus r1.0<16;16,1>:uw
// plus r7.0 is the global id, r8.4 is a, r8.5 is n, r8.6 and r8.7 are added to the byte offsets in x and y.
TEST_CASE("saxpy finds its payload where its code reads it") {
  const Program program = load("saxpy.patch", true);
  const Kernel& kernel = program.kernels[0];
  NdRange range = range_1d(1000, 100);
  range.offset[0] = 77;
  const Payload payload =
      build(kernel, {by_value(2.5f), buffer(0x10000), buffer(0x20000), by_value(990)}, range);
  REQUIRE(payload.walks.size() == 1);
  const Walk& walk = payload.walks[0];
  CHECK(walk.group_count == Size3{10, 1, 1});
  CHECK(walk.threads_per_group == 4);
  CHECK(walk.last_thread_mask == 0xf);
  CHECK(dispatch_mask(payload, walk, 0) == 0xffffffff);
  CHECK(dispatch_mask(payload, walk, 3) == 0xf);
  CHECK(payload.slm_bytes == 0);

  const std::vector<std::byte> registers = registers_of(payload, walk, 2, {9, 0, 0});
  CHECK(reg<std::uint32_t>(registers, 0, 1) == 9);
  CHECK(reg<std::uint32_t>(registers, 9, 0) == 100);
  for (std::size_t channel = 0; channel < 32; ++channel) {
    CHECK(at<std::uint16_t>(registers, 32 + channel * 2) == 64 + channel);
  }
  CHECK(reg<std::uint32_t>(registers, 7, 0) == 77);
  CHECK(reg<float>(registers, 8, 4) == 2.5f);
  CHECK(reg<std::int32_t>(registers, 8, 5) == 990);
  CHECK(reg<std::uint32_t>(registers, 8, 6) == 0);
  CHECK(reg<std::uint32_t>(registers, 8, 7) == 0);
  CHECK(at<std::uint64_t>(registers, 32 + 192 + 32) == 0x10000);
  CHECK(at<std::uint64_t>(registers, 32 + 192 + 40) == 0x20000);
  CHECK(registers[register_bytes(kernel)] == std::byte{0xcc});

  CHECK((*payload.bindings)[0].gpu_address == 0x10000);
  CHECK((*payload.bindings)[1].gpu_address == 0x20000);
  CHECK((*payload.bindings)[1].size == 4096);
  CHECK((*payload.bindings)[2].size == 0);

  // The zebin and the patch tokens of a kernel give the same payload.
  const Program zebin = load("saxpy.zebin", true);
  const Payload same =
      build(zebin.kernels[0], {by_value(2.5f), buffer(0x10000), buffer(0x20000), by_value(990)}, range);
  CHECK((same.walks[0].cross_thread == walk.cross_thread));
  CHECK((same.walks[0].per_thread == walk.per_thread));
}

TEST_CASE("a null buffer and a kernel without local ids") {
  const Program program = load("layouts.patch");
  const Kernel& kernel = *program.find("nolocal");
  const Payload payload = build(kernel, {BufferValue{}}, range_1d(1));
  CHECK(at<std::uint64_t>(registers_of(payload, payload.walks[0], 0), 3 * 32) ==
        0);  // its code: mov r4.0:uq r3.0:uq
  const Payload filled = build(kernel, {buffer(0xabcdef0000)}, range_1d(1));
  CHECK(at<std::uint64_t>(registers_of(filled, filled.walks[0], 0), 3 * 32) == 0xabcdef0000);
}

TEST_CASE("sizes of the range reach the payload") {
  const Program program = load("arguments.zebin");
  const Kernel& kernel = *program.find("sizes");
  NdRange range;
  range.dims = 3;
  range.global = {12, 10, 6};
  range.local = {4, 5, 2};
  range.offset = {100, 200, 300};
  const Payload payload = build(kernel, {buffer(0x1000)}, range);
  const std::vector<std::byte>& data = payload.walks[0].cross_thread;
  const std::map<PayloadItem, Size3> expected{
      {PayloadItem::LocalSize, {4, 5, 2}},          {PayloadItem::EnqueuedLocalSize, {4, 5, 2}},
      {PayloadItem::GlobalSize, {12, 10, 6}},       {PayloadItem::GroupCount, {3, 2, 3}},
      {PayloadItem::GlobalOffset, {100, 200, 300}}, {PayloadItem::WorkDimensions, {3, 0, 0}}};
  std::size_t checked = 0;
  for (const Patch& p : kernel.implicit) {
    CAPTURE(info(p.item).name, p.offset);
    REQUIRE(expected.contains(p.item));
    CHECK(at<std::uint32_t>(data, p.offset) == expected.at(p.item)[p.source / 4]);
    ++checked;
  }
  CHECK(checked == 19);
}

TEST_CASE("structures, small values and local memory are placed") {
  const Program layouts = load("layouts.zebin");
  const Kernel& structure = *layouts.find("structure");
  struct S {
    char c = 1;
    short s = 0x0203;
    int i = 0x04050607;
    long l = 0x08090a0b0c0d0e0f;
    float f[4] = {1, 2, 3, 4};
  } s;
  const std::array<std::uint8_t, 4> u{9, 8, 7, 6};
  const Payload payload =
      build(structure, {by_value(s), buffer(0x1000), by_value(char{5}), by_value(short{-2}), by_value(u)},
            range_1d(32));
  const std::vector<std::byte>& data = payload.walks[0].cross_thread;
  for (const Patch& p : structure.arguments[0].patches) {
    std::array<std::byte, 64> source{};
    std::memcpy(source.data(), &s, sizeof(s));
    CHECK(std::memcmp(data.data() + p.offset, source.data() + p.source, p.size) == 0);
  }
  CHECK(at<std::uint32_t>(data, structure.arguments[2].patches[0].offset) == 5);
  CHECK(at<std::uint16_t>(data, structure.arguments[3].patches[0].offset) == 0xfffe);

  const Program arguments = load("arguments.patch");
  const Kernel& locals = *arguments.find("locals");
  ImplicitBuffers buffers;
  buffers.constants = mem::buffer_surface(memory.data(), 16, 0x7000);
  const Payload local =
      build(locals, {buffer(0x1000), LocalValue{102}, LocalValue{400}, by_value(3)}, range_1d(64), buffers);
  CHECK(locals.slm_bytes == 256);
  CHECK(at<std::uint64_t>(local.walks[0].cross_thread, locals.arguments[1].patches[0].offset) == 256);
  CHECK(at<std::uint64_t>(local.walks[0].cross_thread, locals.arguments[2].patches[0].offset) == 360);
  CHECK(local.slm_bytes == 760);
  CHECK((*local.bindings)[locals.surfaces[0].binding].gpu_address == 0x7000);
  CHECK_THAT(error_of(locals, {buffer(0x1000), LocalValue{102}, LocalValue{65400}, by_value(3)}, range_1d(64),
                      buffers),
             Contains("more than 65536 bytes of local memory"));
  CHECK_THAT(error_of(locals, {buffer(0x1000), LocalValue{~0u}, LocalValue{~0u}, by_value(3)}, range_1d(64),
                      buffers),
             Contains("local memory"));
  CHECK_THAT(error_of(locals, {buffer(0x1000), LocalValue{4}, LocalValue{4}, by_value(3)}, range_1d(64)),
             Contains("needs ConstantBase"));
}

TEST_CASE("images and samplers reach payload, binding table and sampler table") {
  const Program program = load("arguments.zebin");
  const Kernel& kernel = *program.find("images");
  ImageValue image;
  image.surface = mem::buffer_surface(memory.data(), 4096, 0x5000);
  image.surface.image.type = mem::image::SurfaceType::SURFTYPE_2D;
  image.surface.image.format = mem::image::find_format("R32G32B32A32_FLOAT")->code;
  image.surface.image.width = 17;
  image.surface.image.height = 9;
  image.channel_order = 0x10b5;
  image.channel_data_type = 0x10de;
  ImageValue volume = image;
  volume.surface.image.type = mem::image::SurfaceType::SURFTYPE_3D;
  volume.surface.image.depth = 5;
  const SamplerValue sampler{SamplerAddress::clamp_border, SamplerFilter::nearest, false};
  const Payload payload = build(kernel, {image, image, sampler, volume, buffer(0x9000)}, range_1d(32));
  const std::vector<std::byte>& data = payload.walks[0].cross_thread;
  const auto item = [&](std::size_t argument, PayloadItem wanted) {
    for (const Patch& p : kernel.arguments[argument].patches) {
      if (p.item == wanted) return at<std::uint32_t>(data, p.offset);
    }
    FAIL("no such item");
    return 0u;
  };
  CHECK(item(0, PayloadItem::ImageWidth) == 17);
  CHECK(item(1, PayloadItem::ImageHeight) == 9);
  CHECK(item(3, PayloadItem::ImageDepth) == 5);
  CHECK(item(0, PayloadItem::ImageChannelOrder) == 0x10b5);
  CHECK(item(1, PayloadItem::ImageDataType) == 0x10de);
  CHECK(item(2, PayloadItem::SamplerSnap) == 0xffffffff);
  CHECK((*payload.bindings)[*kernel.arguments[3].binding].image.depth == 5);
  CHECK(payload.samplers[0] == payload.samplers[1]);  // the source declares one with the same properties
  CHECK_THAT(error_of(kernel, {image, image, image, volume, buffer(0)}, range_1d(32)),
             Contains("takes a sampler, a 2D image given"));
  CHECK_THAT(error_of(kernel, {image, image, sampler, image, buffer(0)}, range_1d(32)),
             Contains("argument 3 (") && Contains("takes a 3D image, a 2D image given"));
  CHECK_THAT(error_of(kernel, {buffer(0), image, sampler, volume, buffer(0)}, range_1d(32)),
             Contains("takes a 2D image, a buffer given"));
  ImageValue only_read = image;
  only_read.surface.image.format = mem::image::find_format("B10G10R10X2_UNORM")->code;
  CHECK_THAT(error_of(kernel, {image, only_read, sampler, volume, buffer(0)}, range_1d(32)),
             Contains("argument 1 (") && Contains("is written, which images of B10G10R10X2_UNORM cannot be"));
  build(kernel, {only_read, image, sampler, volume, buffer(0x9000)}, range_1d(32));
}

TEST_CASE("the border colour of a binary is that of its samplers; a sampler state that is none is named") {
  const Program program = load("arguments.zebin");
  Kernel kernel = *program.find("images");
  ImageValue image;
  image.surface.image.type = mem::image::SurfaceType::SURFTYPE_2D;
  image.surface.image.format = mem::image::find_format("R32G32B32A32_FLOAT")->code;
  ImageValue volume = image;
  volume.surface.image.type = mem::image::SurfaceType::SURFTYPE_3D;
  const std::vector<ArgumentValue> arguments{image, image, SamplerValue{}, volume, buffer(0x9000)};
  kernel.border_color = {1, 2, 3, 4};
  const Payload payload = build(kernel, arguments, range_1d(32));
  REQUIRE(payload.samplers.size() == kernel.samplers.size());
  for (const mem::image::SamplerState& sampler : payload.samplers)
    CHECK(sampler.border == std::array<std::uint32_t, 4>{1, 2, 3, 4});
  kernel.samplers[1][3] |= 7;  // a reserved addressing mode
  CHECK_THAT(error_of(kernel, arguments, range_1d(32)), Contains("kernel images: sampler 1: SAMPLER_STATE"));
}

TEST_CASE("each sampler property is in the state that a kernel's sampler gets") {
  using enum mem::image::AddressControl;
  const auto state = [](SamplerAddress address, SamplerFilter filter, bool normalized) {
    const SamplerState words = sampler_state(address, filter, normalized);
    std::array<std::byte, 16> bytes;
    std::memcpy(bytes.data(), words.data(), sizeof bytes);
    auto decoded = mem::image::decode_sampler_state(bytes);
    if (!decoded) FAIL(decoded.error().message);
    return *decoded;
  };
  const std::array<std::pair<SamplerAddress, mem::image::AddressControl>, 5> modes{
      {{SamplerAddress::none, CLAMP},
       {SamplerAddress::clamp_edge, CLAMP},
       {SamplerAddress::clamp_border, CLAMP_BORDER},
       {SamplerAddress::repeat, WRAP},
       {SamplerAddress::mirror, MIRROR}}};
  for (const auto& [address, control] : modes)
    for (const bool linear : {false, true})
      for (const bool normalized : {false, true}) {
        const auto filter = linear ? SamplerFilter::linear : SamplerFilter::nearest;
        const mem::image::SamplerState s = state(address, filter, normalized);
        CHECK(s.address == std::array{control, control, control});
        CHECK(s.non_normalized == !normalized);
        const auto map = linear ? mem::image::MapFilter::LINEAR : mem::image::MapFilter::NEAREST;
        CHECK(s.min_filter == map);
        CHECK(s.mag_filter == map);
        CHECK(s.rounding == (linear ? 0x3f : 0));
        CHECK_FALSE(s.disable);
      }
}

TEST_CASE("images that cannot be given are named before a kernel runs") {
  Kernel kernel;
  Argument cube;
  cube.kind = ArgumentKind::Image;
  cube.name = "c";
  cube.type_name = "imagecube_t";
  cube.image_type = 7;
  kernel.arguments.push_back(cube);
  CHECK(cannot_run(kernel) == "argument 0 (c: imagecube_t) is an image_cube, which is not supported");
  kernel.arguments[0].image_type = 4;
  CHECK(cannot_run(kernel).empty());
}

TEST_CASE("arguments that do not fit are named") {
  const Program program = load("saxpy.patch", true);
  const Kernel& k = program.kernels[0];
  const ArgumentValue a = by_value(1.f), n = by_value(1), x = buffer(0x1000);
  CHECK(
      error_of(k, {a, x, x}, range_1d(64)) ==
      "kernel saxpy takes 4 arguments (a: float, x: global const float*, y: global float*, n: int), 3 given");
  CHECK(error_of(k, {a, n, x, n}, range_1d(64)) ==
        "kernel saxpy: argument 1 (x: global const float*) takes a buffer, 4 bytes given");
  CHECK(error_of(k, {by_value(1.0), x, x, n}, range_1d(64)) ==
        "kernel saxpy: argument 0 (a: float) takes 4 bytes, 8 bytes given");
  CHECK_THAT(error_of(k, {x, x, x, n}, range_1d(64)), Contains("takes 4 bytes, a buffer given"));
  CHECK_THAT(error_of(k, {{}, x, x, n}, range_1d(64)), Contains("nothing given"));
  CHECK_THAT(error_of(k, {a, LocalValue{4}, x, n}, range_1d(64)), Contains("4 bytes of local memory given"));

  const Program external = load("external.patch");
  CHECK_THAT(error_of(*external.find("external"), {x, n}, range_1d(64)),
             Contains("cannot run") && Contains("helper"));
}

TEST_CASE("ranges that do not fit are named") {
  const Program program = load("saxpy.patch", true);
  const Kernel& k = program.kernels[0];
  const std::vector<ArgumentValue> arguments{by_value(1.f), buffer(0x1000), buffer(0x2000), by_value(1)};
  CHECK(error_of(k, arguments, range_1d(100, 64)) ==
        "kernel saxpy: local size 64 does not divide global size 100 in dimension 0");
  CHECK_THAT(error_of(k, arguments, range_1d(1024, 512)), Contains("512x1x1 has more than 256 work-items"));
  CHECK_THAT(error_of(k, arguments, range_1d(0)), Contains("global size of dimension 0 is 0"));
  NdRange range;
  range.dims = 0;
  CHECK_THAT(error_of(k, arguments, range), Contains("1 to 3 dimensions, 0 given"));
  range.dims = 4;
  CHECK_THAT(error_of(k, arguments, range), Contains("4 given"));
  range.dims = 2;
  range.global = {64, 64, 1};
  range.local = {64, 0, 0};
  CHECK_THAT(error_of(k, arguments, range), Contains("local size of dimension 1 is 0"));
  range.local = {0xffffffff, 0xffffffff, 0};
  CHECK_THAT(error_of(k, arguments, range), Contains("more than 256"));
  range = range_1d(0xffffffff);
  range.offset[0] = 2;
  CHECK_THAT(error_of(k, arguments, range), Contains("beyond 32 bits"));

  const Program own = load("arguments.patch");
  const Kernel& required = *own.find("required");
  ImplicitBuffers buffers;
  buffers.constants = mem::buffer_surface(memory.data(), 16, 0x7000);
  NdRange cube;
  cube.dims = 3;
  cube.global = {16, 4, 2};
  cube.local = {4, 4, 2};
  CHECK(error_of(required, {buffer(0)}, cube, buffers) ==
        "kernel required requires local size 8x4x2, 4x4x2 given");
  cube.local = {0, 0, 0};
  CHECK(build(required, {buffer(0x1000)}, cube, buffers).local_size == Size3{8, 4, 2});
  CHECK_THAT(error_of(required, {buffer(0x1000)}, range_1d(64), buffers), Contains("does not divide"));
}

TEST_CASE("groups that nobody gave a size may be smaller at the ends, but all claim the same") {
  const Program program = load("saxpy.patch", true);
  const Kernel& kernel = *program.find("saxpy");
  const std::vector<ArgumentValue> arguments{by_value(1.0f), buffer(0x1000), buffer(0x2000), by_value(1000)};
  NdRange range = range_1d(1000);
  range.local = {0, 0, 0};
  const Payload payload = build(kernel, arguments, range);
  REQUIRE(payload.walks.size() == 2);
  CHECK(payload.walks[0].group_count == Size3{3, 1, 1});
  CHECK(payload.walks[1].local_size == Size3{232, 1, 1});
  for (const Patch& p : kernel.implicit)
    if (p.item == PayloadItem::LocalSize || p.item == PayloadItem::EnqueuedLocalSize)
      CHECK(at<std::uint32_t>(payload.walks[1].cross_thread, p.offset) == (p.source == 0 ? 256 : 1));
  range.local = {256, 1, 1};
  CHECK_THAT(error_of(kernel, arguments, range), Contains("does not divide"));
}

// Every work-item of a range occurs exactly once: as the global id that a thread computes from its payload.
TEST_CASE("walks cover a range exactly once") {
  const Program program = load("layouts.patch");
  const Kernel& simd32 = *program.find("unused");
  const Kernel& simd8 = *program.find("order");
  std::mt19937 random(3);
  for (int round = 0; round < 120; ++round) {
    Kernel kernel = round % 2 == 0 ? simd32 : simd8;
    std::array<std::uint8_t, 3> walk_order{0, 1, 2};
    std::shuffle(walk_order.begin(), walk_order.end(), random);
    kernel.local_ids.walk = walk_order;
    NdRange range;
    range.dims = 1 + static_cast<unsigned>(random() % 3);
    range.allow_remainder = true;
    range.global = range.local = {1, 1, 1};
    for (unsigned d = 0; d < range.dims; ++d) {
      range.global[d] = 1 + static_cast<std::uint32_t>(random() % 23);
      range.local[d] = 1 + static_cast<std::uint32_t>(random() % 6);
    }
    std::vector<ArgumentValue> arguments{buffer(0x1000)};
    if (round % 2 == 0) arguments = {by_value(1), buffer(0x1000), LocalValue{16}, buffer(0x1000)};
    const Payload payload = build(kernel, arguments, range);
    std::vector<int> seen(range.global[0] * range.global[1] * range.global[2]);
    CHECK(payload.walks.size() <= 8);
    for (const Walk& walk : payload.walks) {
      for (std::uint32_t z = 0; z < walk.group_count[2]; ++z) {
        for (std::uint32_t y = 0; y < walk.group_count[1]; ++y) {
          for (std::uint32_t x = 0; x < walk.group_count[0]; ++x) {
            const Size3 group{walk.first_group[0] + x, walk.first_group[1] + y, walk.first_group[2] + z};
            for (std::uint32_t t = 0; t < walk.threads_per_group; ++t) {
              for (std::uint32_t channel = 0; channel < kernel.simd_size; ++channel) {
                if ((dispatch_mask(payload, walk, t) >> channel & 1) == 0) continue;
                Size3 id{};
                for (std::size_t d = 0; d < 3; ++d) {
                  const std::size_t place =
                      t * kernel.per_thread_bytes + d * kernel.local_ids.row_bytes + channel * 2;
                  id[d] = group[d] * payload.local_size[d] + at<std::uint16_t>(walk.per_thread, place);
                  REQUIRE(id[d] < range.global[d]);
                }
                ++seen[(id[2] * range.global[1] + id[1]) * range.global[0] + id[0]];
              }
            }
          }
        }
      }
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(seen.size()));
  }
}

TEST_CASE("local ids follow the walk order") {
  const Program program = load("layouts.patch");
  Kernel kernel = *program.find("order");
  NdRange range;
  range.dims = 3;
  range.global = range.local = {2, 3, 4};
  const auto id = [&](const Payload& p, std::uint32_t item, std::size_t d) {
    return at<std::uint16_t>(p.walks[0].per_thread,
                             item / 8 * kernel.per_thread_bytes + d * 32 + item % 8 * 2);
  };
  const Payload natural = build(kernel, {buffer(0x1000)}, range);
  kernel.local_ids.walk = {2, 0, 1};
  const Payload turned = build(kernel, {buffer(0x1000)}, range);
  for (std::uint32_t item = 0; item < 24; ++item) {
    CHECK(id(natural, item, 0) == item % 2);
    CHECK(id(natural, item, 1) == item / 2 % 3);
    CHECK(id(natural, item, 2) == item / 6);
    CHECK(id(turned, item, 2) == item % 4);
    CHECK(id(turned, item, 0) == item / 4 % 2);
    CHECK(id(turned, item, 1) == item / 8);
  }
}

TEST_CASE("smaller groups at the ends know both sizes") {
  const Program program = load("nonuniform.patch", true);
  const Kernel& kernel = program.kernels[0];
  NdRange range;
  range.dims = 2;
  range.global = {10, 7, 1};
  range.local = {4, 4, 1};
  CHECK_THAT(error_of(kernel, {buffer(0x1000), buffer(0x2000)}, range), Contains("does not divide"));
  range.allow_remainder = true;
  const Payload payload = build(kernel, {buffer(0x1000), buffer(0x2000)}, range);
  REQUIRE(payload.walks.size() == 4);
  const Walk& corner = payload.walks[3];
  CHECK(corner.first_group == Size3{2, 1, 0});
  CHECK(corner.local_size == Size3{2, 3, 1});
  CHECK(corner.last_thread_mask == 0x3f);
  for (const Patch& p : kernel.implicit) {
    if (p.source == 8) continue;
    const auto value = at<std::uint32_t>(corner.cross_thread, p.offset);
    if (p.item == PayloadItem::LocalSize) CHECK(value == corner.local_size[p.source / 4]);
    if (p.item == PayloadItem::EnqueuedLocalSize) CHECK(value == 4);
    if (p.item == PayloadItem::GroupCount) CHECK(value == (p.source == 0 ? 3 : 2));
  }
}

TEST_CASE("r0 carries ids, pointers and the thread's slot and scratch") {
  Kernel kernel;
  kernel.simd_size = 16;
  kernel.scratch_bytes = 2048;
  ThreadCode code;
  code.simd = 16;
  code.cr0_offset = 4096;
  code.sr0_offset = 4128;
  WalkerCommand command;
  command.code = &code;
  command.header = thread_header(kernel, 0x40, 0x80);
  command.threads_per_group = 2;
  command.last_mask = 0x3;
  command.scratch.address = 0x12300000;
  command.scratch.bytes = 2048;
  std::vector<std::byte> file(4160, std::byte{0});
  const ThreadPayload payload(command);
  payload.write(file.data(), 1);
  const auto r0 = payload.header({1, 2, 3}, 0x101, 1);
  std::memcpy(file.data(), r0.data(), sizeof r0);
  CHECK(reg<std::uint32_t>(file, 0, 1) == 1);
  CHECK(reg<std::uint32_t>(file, 0, 2) == 0);
  CHECK(reg<std::uint32_t>(file, 0, 3) == (0x40 | 1));
  CHECK(reg<std::uint32_t>(file, 0, 4) == 0x80);
  // The bits of r0.5 that compiled scratch accesses use.
  CHECK((reg<std::uint32_t>(file, 0, 5) & ~0x3ffu) == 0x12300000 + 0x101 * 2048);
  CHECK((reg<std::uint32_t>(file, 0, 5) & 0x3ff) == (0x200 | 0x101));
  CHECK(reg<std::uint32_t>(file, 0, 6) == 2);
  CHECK(reg<std::uint32_t>(file, 0, 7) == 3);
  CHECK(at<std::uint32_t>(file, 4096) == initial_control);
  CHECK(at<std::uint32_t>(file, 4128 + 8) == 0x3);
  CHECK(payload.dispatch_mask(0) == 0xffff);
}

TEST_CASE("buffers come from the address space") {
  mem::AddressSpace space;
  REQUIRE(space.map(0x1000, 256, memory.data(), mem::Access::ReadWrite, "x"));
  auto value = buffer_at(space, 0x1010);
  REQUIRE(value);
  const auto& surface = std::get<BufferValue>(*value).surface;
  CHECK(surface.base == memory.data() + 16);
  CHECK(surface.size == 240);
  CHECK(surface.gpu_address == 0x1010);
  CHECK(std::get<BufferValue>(*buffer_at(space, 0)).surface.size == 0);
  CHECK_THAT(buffer_at(space, 0x1100).error().message, Contains("0x1100"));
}

TEST_CASE("relocations write the addresses of segments") {
  const Program program = load("globals.zebin", true);
  const Kernel& kernel = program.kernels[0];
  SegmentAddresses addresses;
  CHECK_THAT(relocated_code(kernel, addresses).error().message,
             Contains("kernel globals") && Contains("globals"));
  addresses[Segment::Globals] = 0x123456789000;
  addresses[Segment::Constants] = 0xabcdef012000;
  const auto code = relocated_code(kernel, addresses);
  REQUIRE(code);
  CHECK(code->size() == kernel.code.size());
  CHECK(at<std::uint32_t>(*code, 60) == 0x56789000);
  CHECK(at<std::uint32_t>(*code, 76) == 0x1234);
  CHECK(at<std::uint32_t>(*code, 92) == 0xef012000);
  CHECK(at<std::uint32_t>(*code, 108) == 0xabcd);
  for (const char* name : {"globals.patch", "globals.zebin"}) {
    const Program p = load(name, true);
    const auto constants = relocated_bytes(p.segment(Segment::Constants), addresses);
    REQUIRE(constants);
    CHECK(at<std::uint64_t>(*constants, 16) == 0x123456789008);  // alias = &state[2]
    CHECK(at<std::uint32_t>(*constants, 0) == 10);
  }
}
