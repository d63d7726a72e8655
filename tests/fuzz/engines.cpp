// Fuzzes translation and execution: any bytes are a kernel's code, which one thread runs on both engines.
// Nothing may crash or hang, and both must agree on how the thread ends and on the final registers, flags and
// memory. The last byte selects family and SIMD width, so that bare kernels are seeds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <new>
#include <span>
#include <vector>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/printer.hpp"
#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/surface.hpp"

namespace {

using namespace eum;

constexpr std::size_t most_code = 2048;
constexpr std::int64_t budget = 300;
constexpr std::uint64_t low_address = 0x2000, high_address = 0x1'0000'0000;
constexpr unsigned scratch = 5, low = 3, high = 4;  // indices in Memory::buffers; 0 to 2 are surfaces

struct Memory {
  alignas(64) std::array<std::array<std::byte, 1024>, 7> buffers;  // the last one is shared local memory
  bool operator==(const Memory&) const = default;
};

struct Ending {
  jit::Status status{};
  jit::Fault fault;
  jit::ThreadImage image;
  Memory memory;
};

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 5 + (i >> 3)); }

/// Contents of register n: small floats, small integers, addresses, or arbitrary bytes.
void fill_register(unsigned n, std::span<std::byte> bytes) {
  for (unsigned i = 0; i < bytes.size() / 4; ++i) {
    std::uint32_t dword = 0;
    const float number = static_cast<float>(static_cast<int>(n * 3 + i) - 40) / 8;
    if (n % 4 == 0) std::memcpy(&dword, &number, 4);
    if (n % 4 == 1) dword = i * 4 + n;
    if (n % 4 == 2) dword = (i % 2 != 0 ? 1 : 0x2000) + (i % 2 != 0 ? 0 : n * 4);
    if (n % 4 == 3) dword = (n * 0x9e3779b9u) ^ (i * 0x85ebca6bu);
    std::memcpy(bytes.data() + std::size_t{4} * i, &dword, 4);
  }
}

std::byte* aligned(std::vector<std::byte>& storage) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return storage.data() + (64 - address % 64) % 64;
}

/// Returns false if the code cannot be lowered. Compiling rewrites the function, so each engine lowers its
/// own.
bool run(std::span<const std::byte> code, gen::Family family, unsigned simd, jit::Engine& engine,
         Ending& ending) {
  std::pmr::monotonic_buffer_resource resource;
  auto function = gen::lower_kernel(code, family, simd, "fuzz", &resource);
  if (!function) return false;
  const auto executable = engine.compile(*function, {});
  if (!executable) {
    std::fprintf(stderr, "%s\n", executable.error().message.c_str());
    std::abort();
  }
  Memory& memory = ending.memory;
  for (std::size_t b = 0; b < memory.buffers.size(); ++b)
    for (std::size_t i = 0; i < memory.buffers[b].size(); ++i) memory.buffers[b][i] = pattern(i + b);
  mem::BindingTable surfaces;
  const auto bytes = [&](std::size_t b) { return memory.buffers[b].data(); };
  for (std::size_t b = 0; b < 3; ++b)
    surfaces[b] = mem::buffer_surface(bytes(b), 1000 + 8 * b, 0x5000 + 0x1000 * b);
  mem::AddressSpace space;
  if (!space.map(low_address, 1024, bytes(low), mem::Access::ReadWrite, "low") ||
      !space.map(high_address, 1024, bytes(high), mem::Access::ReadWrite, "high"))
    std::abort();
  jit::Environment environment;
  environment.surfaces = surfaces.surfaces.data();
  environment.scratch = bytes(scratch);
  environment.scratch_bytes = 1024;
  environment.space = &space;
  environment.slm = bytes(6);
  environment.slm_bytes = 1024;

  const jit::StateLayout& layout = (*executable)->layout();
  std::vector<std::byte> storage(layout.size + 64);
  auto& state = *new (aligned(storage)) jit::ThreadState;
  state.environment = &environment;
  state.budget = budget;
  state.fp_mode = 0x4c0;
  std::byte* file = layout.file_of(state);
  for (unsigned n = 0; n < 128; ++n) fill_register(n, {file + std::size_t{32} * n, 32});
  layout.masks_of(state)[0] = simd == 32 ? 0xf0ff7fff : (1u << simd) - 1;
  do ending.status = (*executable)->run(state);
  while (ending.status == jit::Status::Waiting && state.budget > 0);
  ending.fault = state.fault;
  ending.image = (*executable)->save(state, ending.status);
  return true;
}

/// How the engines differ, or nullptr.
const char* difference(const Ending& a, const Ending& b) {
  using jit::Status;
  if (a.status != b.status) return "how the thread ends";
  if (a.status == Status::Faulted && (a.fault.kind != b.fault.kind || a.fault.guest_ip != b.fault.guest_ip))
    return "the fault";
  if (a.status != Status::Exited && a.image.ip != b.image.ip) return "where the thread stops";
  if (a.image.registers != b.image.registers) return "registers";
  if (a.image.flags != b.image.flags) return "flags";
  if (a.image.execution_mask != b.image.execution_mask || a.image.parked != b.image.parked) return "masks";
  return a.memory == b.memory ? nullptr : "memory";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > most_code) return 0;
  const auto reference_engine = jit::make_reference_engine();
  const auto avx2_engine = jit::make_avx2_engine();
  if (!avx2_engine) std::abort();
  const auto code = std::as_bytes(std::span(data, size - 1));
  const std::uint8_t choice = data[size - 1];
  const auto family = static_cast<gen::Family>((choice & 7) % gen::family_count);
  const unsigned simd = 8u << (choice >> 3) % 3;
  Ending avx2, reference;
  if (!run(code, family, simd, **avx2_engine, avx2) || !run(code, family, simd, *reference_engine, reference))
    return 0;
  const char* what = difference(avx2, reference);
  if (what == nullptr) return 0;
  std::fprintf(stderr, "the engines differ in %s (avx2 %u %u @%#x, reference %u %u @%#x)\n", what,
               static_cast<unsigned>(avx2.status), static_cast<unsigned>(avx2.fault.kind),
               avx2.fault.guest_ip, static_cast<unsigned>(reference.status),
               static_cast<unsigned>(reference.fault.kind), reference.fault.guest_ip);
  for (std::size_t i = 0; i < avx2.image.registers.size(); ++i)
    if (avx2.image.registers[i] != reference.image.registers[i])
      std::fprintf(stderr, "  r%zu byte %zu: avx2 %#x, reference %#x\n", i / 32, i % 32,
                   static_cast<unsigned>(avx2.image.registers[i]),
                   static_cast<unsigned>(reference.image.registers[i]));
  std::fprintf(stderr, "%s", ir::print(*gen::lower_kernel(code, family, simd, "fuzz")).c_str());
  std::abort();
}
