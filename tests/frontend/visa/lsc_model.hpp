#pragma once
// What lsc instructions do, written independently from the pseudo-code of the vISA documents LSC_UNTYPED:
// plain loops over bytes. Must not include any of the code that it checks.
#include <cstdint>
#include <string>
#include <vector>

namespace lsc_model {

/// A block of memory.
struct Area {
  std::uint64_t base = 0;
  std::vector<std::uint8_t> bytes;
  bool flat = true;  ///< accessible by flat accesses at `base`
};

struct Machine {
  unsigned grf = 64;
  std::vector<std::uint8_t> registers;
  std::vector<Area> areas;
};

/// Shared local memory or a surface, the first bytes of an area: accesses outside read 0, and writes are
/// dropped.
struct Bounded {
  unsigned area = 0;
  std::uint64_t size = 0;
};

enum class Data : std::uint8_t { d8, d16, d32, d64, d8u32, d16u32, d16u32h };
constexpr unsigned memory_bytes(Data d) {
  switch (d) {
    case Data::d8:
    case Data::d8u32:
      return 1;
    case Data::d32:
      return 4;
    case Data::d64:
      return 8;
    default:
      return 2;
  }
}
constexpr unsigned register_bytes(Data d) {
  return d == Data::d8 ? 1 : d == Data::d16 ? 2 : d == Data::d64 ? 8 : 4;
}

struct Instruction {
  enum class Kind : std::uint8_t { Load, Store, Atomic, Status } kind = Kind::Load;
  std::string atomic;  ///< after "atomic_", such as "iadd"
  Data data = Data::d32;
  unsigned elements = 1;
  unsigned channels = 0;  ///< component mask of a quad message; 0: a vector
  bool transposed = false;
  unsigned exec = 32;
  std::uint32_t mask = ~0u;
  // scale * address + offset wraps around at the size of addresses, then the base is added
  unsigned address_bytes = 8;
  std::uint32_t scale = 1;
  std::int64_t offset = 0;
  std::uint64_t base = 0;
  bool strided = false;
  std::uint64_t pitch = 0;
  const Bounded* bounded = nullptr;  ///< null: flat
  // byte offsets in the register file; none: a null operand
  static constexpr unsigned none = ~0u;
  unsigned addresses = none, dst = none, source0 = none, source1 = none;
};

/// Returns false if an address of a flat access is in no area; then the machine is unchanged except for
/// memory that stores and atomics had already written.
bool execute(Machine& machine, const Instruction& instruction);

struct Block {
  bool store = false;
  unsigned element = 4, blocks = 1, width = 1, height = 1;
  bool transpose = false, transform = false;
  std::uint64_t base = 0;
  std::uint32_t surface_width = 0, surface_height = 0, surface_pitch = 0;  ///< minus one each
  std::int32_t x = 0, y = 0;
  unsigned data = 0;       ///< byte offset in the register file
  unsigned bytes() const;  ///< of the registers, whole ones of `grf` bytes for each block
  unsigned grf = 64;
};
bool execute(Machine& machine, const Block& block);

}  // namespace lsc_model
