// Buffers that are not one block of host memory: behind callbacks, across regions, unmapped between steps.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "binaries.hpp"
#include "runtime/dispatch/dispatch.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

constexpr std::uint32_t count = 100;
constexpr std::uint64_t x_address = 0x700000000000, y_address = 0x700000100000;

/// A device's register block as an embedder may model it: dwords by address.
struct Registers {
  std::map<std::uint64_t, std::byte> bytes;

  static bool read(void* context, std::uint64_t address, void* to, std::uint64_t size) {
    auto& self = *static_cast<Registers*>(context);
    for (std::uint64_t i = 0; i < size; ++i) static_cast<std::byte*>(to)[i] = self.bytes[address + i];
    return true;
  }
  static bool write(void* context, std::uint64_t address, const void* from, std::uint64_t size) {
    auto& self = *static_cast<Registers*>(context);
    for (std::uint64_t i = 0; i < size; ++i) self.bytes[address + i] = static_cast<const std::byte*>(from)[i];
    return true;
  }
  void set(std::uint64_t address, float value) {
    std::byte bits[4];
    std::memcpy(bits, &value, 4);
    for (std::uint64_t i = 0; i < 4; ++i) bytes[address + i] = bits[i];
  }
  float get(std::uint64_t address) {
    std::byte bits[4];
    for (std::uint64_t i = 0; i < 4; ++i) bits[i] = bytes[address + i];
    float value = 0;
    std::memcpy(&value, bits, 4);
    return value;
  }
};

}  // namespace

TEST_CASE("a kernel reaches a buffer behind callbacks and one across regions through the binding table") {
  for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference})
    for (const char* binary : {"saxpy.patch", "saxpy.zebin"}) {
      CAPTURE(jit::info(kind).name, binary);
      auto program = load_program(binaries::corpus(binary));
      REQUIRE(program);
      auto device = Device::create({.engine = kind, .workers = 1});
      REQUIRE(device);
      auto module = Module::create(**device, std::move(*program));
      REQUIRE(module);

      Registers registers;
      for (std::uint32_t i = 0; i < count; ++i) registers.set(x_address + 4 * i, static_cast<float>(i));
      mem::AddressSpace& space = (*device)->memory();
      REQUIRE(space.map_callbacks(x_address, 4 * count, {&registers, &Registers::read, &Registers::write},
                                  mem::Access::ReadWrite, "registers"));
      // y spans two regions, with the border inside the range that one thread accesses.
      alignas(8) float low[30], high[count - 30];
      std::fill(std::begin(low), std::end(low), 1.0f);
      std::fill(std::begin(high), std::end(high), 1.0f);
      REQUIRE(
          space.map(y_address, sizeof low, reinterpret_cast<std::byte*>(low), mem::Access::ReadWrite, "low"));
      REQUIRE(space.map(y_address + sizeof low, sizeof high, reinterpret_cast<std::byte*>(high),
                        mem::Access::ReadWrite, "high"));

      const auto x = buffer_at(space, x_address);
      REQUIRE(x);
      const BufferValue y{mem::buffer_surface(nullptr, 4 * count, y_address)};
      NdRange range;
      range.global = {128, 1, 1};
      auto launch =
          Launch::prepare(**module, (*module)->program().kernels[0],
                          std::vector<ArgumentValue>{by_value(2.0f), *x, y, by_value(count)}, range);
      INFO((launch ? "" : launch.error().message));
      REQUIRE(launch);
      const auto report = launch->run();
      REQUIRE(report);
      CHECK((report->fault ? report->fault->message : "") == "");
      for (std::uint32_t i = 0; i < count; ++i)
        REQUIRE((i < 30 ? low[i] : high[i - 30]) == 2.0f * static_cast<float>(i) + 1.0f);

      // With the buffers exchanged, the results go through the callbacks.
      auto back = Launch::prepare(**module, (*module)->program().kernels[0],
                                  std::vector<ArgumentValue>{by_value(2.0f), y, *x, by_value(count)}, range);
      REQUIRE(back);
      REQUIRE(back->run());
      CHECK(registers.get(x_address + 4 * 99) == 2.0f * (2.0f * 99 + 1) + 99);
    }
}

TEST_CASE("memory that goes between steps is gone for the guest") {
  auto program = load_program(binaries::corpus("saxpy.zebin"));
  REQUIRE(program);
  auto device = Device::create({.engine = jit::EngineKind::avx2, .workers = 1});
  REQUIRE(device);
  auto module = Module::create(**device, std::move(*program));
  REQUIRE(module);
  const auto x = (*device)->allocate(4096, "x"), y = (*device)->allocate(4096, "y");
  REQUIRE(x);
  REQUIRE(y);
  // Without host memory in the surface, each access looks up the address space, and threads cache the region.
  mem::Surface bare_x = x->surface(), bare_y = y->surface();
  NdRange range;
  range.global = {1024, 1, 1};
  range.local = {32, 1, 1};
  auto launch = Launch::prepare(
      **module, (*module)->program().kernels[0],
      std::vector<ArgumentValue>{by_value(2.0f), BufferValue{bare_x}, BufferValue{bare_y}, by_value(1024)},
      range);
  REQUIRE(launch);
  auto commands = launch->commands();
  REQUIRE(commands);
  REQUIRE(commands->size() == 1);
  mem::BindingTable table = *(*commands)[0].surfaces;
  for (mem::Surface& s : table.surfaces) s.base = nullptr, s.direct = 0;
  (*commands)[0].surfaces = &table;
  auto dispatch = Dispatch::create((*device)->workers(), (*commands)[0]);
  REQUIRE(dispatch);
  REQUIRE((*dispatch)->step(100));
  CHECK_FALSE((*dispatch)->fault());
  (*device)->release(*y);
  const auto progress = (*dispatch)->step();
  REQUIRE(progress);
  CHECK(*progress == Dispatch::Progress::Faulted);
  REQUIRE((*dispatch)->fault());
  CHECK((*dispatch)->fault()->fault.kind == jit::FaultKind::OutOfBounds);
}

TEST_CASE("the walks of a launch have the memory to themselves if the device's options say so") {
  for (const bool exclusive : {false, true}) {
    auto program = load_program(binaries::corpus("saxpy.zebin"));
    REQUIRE(program);
    auto device =
        Device::create({.engine = jit::EngineKind::avx2, .workers = 1, .exclusive_memory = exclusive});
    REQUIRE(device);
    auto module = Module::create(**device, std::move(*program));
    REQUIRE(module);
    const auto buffer = (*device)->allocate(4096, "x");
    REQUIRE(buffer);
    NdRange range;
    range.global = {64, 1, 1};
    auto launch = Launch::prepare(**module, (*module)->program().kernels[0],
                                  std::vector<ArgumentValue>{by_value(2.0f), BufferValue{buffer->surface()},
                                                             BufferValue{buffer->surface()}, by_value(64)},
                                  range);
    REQUIRE(launch);
    const auto commands = launch->commands();
    REQUIRE(commands);
    for (const WalkerCommand& command : *commands) CHECK(command.exclusive == exclusive);
  }
}
