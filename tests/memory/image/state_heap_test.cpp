// Surfaces and samplers named by the offset of their states: what is read there, and which errors are
// detected.
#include <catch2/catch.hpp>
#include <cstring>

#include "memory/address_space.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/state_heap.hpp"
#include "tests/memory/image/image.hpp"

using namespace test_image;

namespace {

constexpr std::uint64_t states_at = 0x100000, texels_at = 0x200000, border_at = 0x300000;

struct Heap {
  std::vector<std::byte> states = std::vector<std::byte>(256), border = std::vector<std::byte>(64);
  Image image{SurfaceType::SURFTYPE_2D, "R32_UINT", 8, 8};
  AddressSpace space;
  StateHeap heap{states_at, 256, border_at, true};

  Heap() {
    REQUIRE(space.map(states_at, states.size(), states.data(), Access::Read, "states"));
    REQUIRE(space.map(texels_at, image.memory.size(), image.memory.data(), Access::ReadWrite, "texels"));
    REQUIRE(space.map(border_at, border.size(), border.data(), Access::Read, "border"));
  }
  template <std::size_t size>
  void put(std::uint32_t offset, const std::array<std::byte, size>& bytes) {
    std::memcpy(states.data() + offset, bytes.data(), size);
  }
  ImageFault surface(std::uint32_t offset, Surface& to) const {
    return read_surface(heap, &space, offset, to);
  }
  ImageFault sampler(std::uint32_t offset, SamplerState& to) const {
    return read_sampler(heap, &space, offset, to);
  }
};

}  // namespace

TEST_CASE("image state heap: a surface is what its state says, with the host memory that lies there") {
  Heap h;
  h.image.state.mip_lod = 0;
  h.put(64, encode(h.image.state, texels_at, 0x5000));
  Surface surface;
  CHECK(!h.surface(64, surface));
  CHECK((surface.image == h.image.state));
  CHECK(surface.gpu_address == texels_at);
  CHECK(surface.counter == 0x5000);
  CHECK(surface.size == surface_bytes(h.image.state));
  CHECK(surface.base == h.image.memory.data());
  CHECK(surface.direct == surface.size);
  // An address without host memory: accesses use the address space then.
  h.put(128, encode(h.image.state, 0xdead0000));
  CHECK(!h.surface(128, surface));
  CHECK(surface.base == nullptr);
}

TEST_CASE("image state heap: the heap of surface states is another one") {
  Heap h;
  h.put(128, encode(h.image.state, texels_at));
  Surface surface;
  const auto read = [&](std::uint32_t offset) {
    return read_surface(h.heap, &h.space, offset, surface, SurfaceHeap::States);
  };
  CHECK(std::string(read(0).reason) == "a surface state where there is no heap of surface states");
  h.heap.states = states_at + 64;
  h.heap.state_bytes = 128;
  CHECK(!read(64));
  CHECK(surface.gpu_address == texels_at);
  CHECK(read(65).kind == ImageFault::Kind::Unmapped);
  CHECK(std::string(read(0).reason) == "a surface state with values that are reserved or not supported");
}

TEST_CASE("image state heap: a state beyond the heap or in no memory is a fault, as is a wrong one") {
  Heap h;
  Surface surface;
  SamplerState sampler;
  for (const std::uint32_t offset : {193u, 256u, 0xffffffc0u}) {
    const ImageFault fault = h.surface(offset, surface);
    CHECK(fault.kind == ImageFault::Kind::Unmapped);
    CHECK(fault.address == states_at + offset);
  }
  CHECK(h.sampler(241, sampler).kind == ImageFault::Kind::Unmapped);
  CHECK(h.surface(0, surface).kind == ImageFault::Kind::Unsupported);  // alignments of 0
  h.heap.surfaces = 0x900000;
  CHECK(h.surface(0, surface).kind == ImageFault::Kind::Unmapped);
  CHECK(read_surface(h.heap, nullptr, 0, surface).kind == ImageFault::Kind::Unmapped);
  h.heap.surface_bytes = 0;
  const ImageFault none = h.surface(0, surface);
  CHECK(none.kind == ImageFault::Kind::Unsupported);
  CHECK(std::string(none.reason) == "a bindless surface where there is no heap of their states");
}

TEST_CASE("image state heap: a sampler has the border colour of dynamic state") {
  Heap h;
  SamplerState state;
  state.address.fill(AddressControl::CLAMP_BORDER);
  h.put(16, encode(state, 0));
  const std::array<std::uint32_t, 4> colour = {1, 2, 3, 4};
  std::memcpy(h.border.data(), colour.data(), sizeof colour);
  SamplerState read;
  CHECK(!h.sampler(16, read));
  CHECK(read.border == colour);
  CHECK(read.address == state.address);
  h.heap.dynamic = 0xdead0000;
  CHECK(!h.sampler(16, read));
  CHECK(read.border == std::array<std::uint32_t, 4>{});
  h.put(16, std::array<std::byte, 16>{std::byte{0}, std::byte{0}, std::byte{0x30}});  // mip filter 3; mag 0
  h.states[16 + 1] = std::byte{0xc0};  // min filter 3: reserved
  CHECK(h.sampler(16, read).kind == ImageFault::Kind::Unsupported);
}
