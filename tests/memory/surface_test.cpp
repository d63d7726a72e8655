// Surface and Slm: out of bounds reads give 0, out of bounds writes vanish, null surfaces need no special
// case.
#include <catch2/catch.hpp>

#include <vector>

#include "memory/slm.hpp"
#include "memory/surface.hpp"

using namespace eum::mem;

TEST_CASE("a surface bounds each byte") {
  std::vector<std::byte> memory(32, std::byte{0x11});
  const Surface s = buffer_surface(memory.data() + 8, 16, 0x1000);
  std::vector<std::byte> got(8, std::byte{0xee});
  read_surface(s, 12, got);
  CHECK(got == std::vector<std::byte>{
                   std::byte{0x11}, std::byte{0x11}, std::byte{0x11}, std::byte{0x11}, {}, {}, {}, {}});
  const std::vector<std::byte> data(8, std::byte{0x22});
  write_surface(s, 12, data);
  CHECK(memory[19] == std::byte{0x11});
  CHECK(memory[20] == std::byte{0x22});
  CHECK(memory[23] == std::byte{0x22});
  CHECK(memory[24] == std::byte{0x11});
  for (std::uint64_t offset :
       {std::uint64_t{16}, std::uint64_t{1} << 32, ~std::uint64_t{0}, ~std::uint64_t{0} - 4}) {
    const auto before = memory;
    write_surface(s, offset, data);
    CHECK(memory == before);
    read_surface(s, offset, got);
    CHECK(got == std::vector<std::byte>(8));
  }
}

TEST_CASE("a binding table starts with null surfaces") {
  auto table = std::make_unique<BindingTable>();
  std::vector<std::byte> got(4, std::byte{1});
  for (std::size_t i = 0; i < binding_table_size; ++i) {
    REQUIRE((*table)[i].type == SurfaceType::SURFTYPE_NULL);
    read_surface((*table)[i], 0, got);
    write_surface((*table)[i], 0, got);
  }
  CHECK(got == std::vector<std::byte>(4));
  CHECK(&(*table)[ReservedIndex::SharedLocalMemory] == &(*table)[254]);
}

TEST_CASE("shared local memory comes in the hardware's sizes") {
  CHECK(slm_allocation(0) == 0);
  CHECK(slm_allocation(1) == 1024);
  CHECK(slm_allocation(1024) == 1024);
  CHECK(slm_allocation(1025) == 2048);
  CHECK(slm_allocation(40000) == 65536);
  CHECK(slm_allocation(65536) == 65536);

  auto none = Slm::create(0, SlmInit::Zero);
  REQUIRE(none);
  CHECK(none->size() == 0);
  CHECK(none->surface().size == 0);

  auto too_much = Slm::create(65537, SlmInit::Zero);
  REQUIRE_FALSE(too_much);
  CHECK(too_much.error().message.find("65537") != std::string::npos);
  CHECK_FALSE(Slm::create(~std::uint64_t{0}, SlmInit::Zero));

  for (SlmInit init : {SlmInit::Zero, SlmInit::Poison}) {
    auto slm = Slm::create(3000, init);
    REQUIRE(slm);
    REQUIRE(slm->size() == 4096);
    const std::byte fresh = init == SlmInit::Zero ? std::byte{0} : Slm::poison;
    CHECK(slm->data()[0] == fresh);
    CHECK(slm->data()[4095] == fresh);
    CHECK(reinterpret_cast<std::uintptr_t>(slm->data()) % 64 == 0);
    slm->data()[17] = std::byte{5};
    slm->reset();
    CHECK(slm->data()[17] == fresh);
    CHECK(slm->surface().base == slm->data());
  }
}
