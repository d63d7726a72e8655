#pragma once
// What a memory op accesses, besides its element type, lanes and operands. Plain data in a side table of the
// function, so that instructions stay small and a new kind of access adds no field to them.
#include <bit>
#include <cstdint>

#include "frontend/ir/types.hpp"
#include "memory/atomics.hpp"

namespace eum::ir {

/// Which memory an access goes to.
enum class MemSpace : std::uint8_t {
  Surface,  ///< an entry of the binding table; u32 addresses; out of bounds reads 0, writes are dropped
  Slm,      ///< shared local memory of the thread group; u32 addresses; bounds as for a surface
  A64,      ///< the address space; u64 addresses; unmapped: fault
  A32,      ///< the address space, u32 addresses; unmapped: fault
  Scratch,  ///< the thread's scratch; u32 addresses; beyond it: fault
  // The address space, relative to a base operand: addresses are distances from it in units of
  // MemoryAccess::scale bytes, and the sum wraps around at 64 bits; unmapped: fault.
  From,          ///< s32 distances
  FromUnsigned,  ///< u32 distances
  // Surfaces whose state an operand locates; addresses and bounds as for a surface.
  Bindless,  ///< byte offset in the heap of bindless surface states
  States,    ///< byte offset in the heap of surface states
};

/// What the operand before the addresses is.
enum class SurfaceBy : std::uint8_t {
  Nothing,
  Index,  ///< index of a surface in the binding table; may be in the instruction instead
  Place,  ///< location of a surface's state
  Base,   ///< 64-bit base of the distances
};

struct MemSpaceInfo {
  const char* name;    ///< in the text form
  Type address;        ///< type of addresses
  bool in_space;       ///< addresses are those of the address space
  bool bounded_reads;  ///< elements out of bounds read 0 and writes to them are dropped; otherwise they fault
  SurfaceBy surface = SurfaceBy::Nothing;
};
inline constexpr MemSpaceInfo mem_space_table[] = {
    {"surface", Type::u32, false, true, SurfaceBy::Index},
    {"slm", Type::u32, false, true},
    {"a64", Type::u64, true, false},
    {"a32", Type::u32, true, false},
    {"scratch", Type::u32, false, false},
    {"from", Type::s32, true, false, SurfaceBy::Base},
    {"from_unsigned", Type::u32, true, false, SurfaceBy::Base},
    {"bindless", Type::u32, false, true, SurfaceBy::Place},
    {"states", Type::u32, false, true, SurfaceBy::Place},
};
inline constexpr std::size_t mem_space_count = std::size(mem_space_table);
constexpr const MemSpaceInfo& info(MemSpace space) {
  return mem_space_table[static_cast<std::size_t>(space)];
}

/// What an atomic does: the rows of memory/atomics.def.
using AtomicOp = mem::AtomicOp;

/// Cache control that the message requests; no effect on results.
enum class CacheHint : std::uint8_t {
  Default,
  Invalidate,  ///< the lines are invalidated after the read
};

struct MemoryAccess {
  static constexpr std::uint32_t most_scale = INT32_MAX;

  MemSpace space = MemSpace::Surface;
  std::uint8_t surface = 0;          ///< index in the binding table
  bool surface_is_operand = false;   ///< operand 0 is what SurfaceBy says
  AtomicOp atomic = AtomicOp::and_;  ///< of an atomic
  CacheHint cache = CacheHint::Default;
  std::uint8_t part_bytes = 0;   ///< where memory ends, elements are parts of so many bytes; 0: whole
  bool several = false;          ///< it stands for accesses of single elements, or parts: see wraps_around()
  std::uint32_t scale = 1;       ///< bytes per unit of distance; at most most_scale
  std::uint32_t offset = 0;      ///< bytes added to each address; see wraps_around()
  std::uint64_t components = 1;  ///< bit k: component k, at address + k * element size

  constexpr bool operator==(const MemoryAccess&) const = default;

  /// Whether the instruction itself names the surface.
  bool is_fixed_surface() const { return space == MemSpace::Surface && !surface_is_operand; }
  /// Whether threads of other groups may access the memory as well.
  bool is_global() const { return space != MemSpace::Slm && space != MemSpace::Scratch; }
  /// Whether addresses are distances from a base.
  bool is_based() const { return info(space).surface == SurfaceBy::Base; }
  /// Whether the access is done, or has no effect, whatever the addresses are.
  bool never_faults() const { return info(space).bounded_reads && !surface_is_operand; }
  /// Whether the sum of an address and the offset, 64 bits wide in that case, wraps around. A sum of 32 bits
  /// does not, but if the access stands for `several`, the sum with a part's distance from it does.
  bool wraps_around() const { return is_based() || info(space).address == Type::u64; }
  /// Index of the operand that holds the addresses.
  unsigned address_operand() const { return surface_is_operand ? 1 : 0; }
  unsigned component_count() const { return static_cast<unsigned>(std::popcount(components)); }
  /// The index of the k-th accessed component.
  unsigned component(unsigned k) const {
    std::uint64_t set = components;
    for (; k > 0; --k) set &= set - 1;
    return static_cast<unsigned>(std::countr_zero(set));
  }

  static MemoryAccess in(MemSpace space) {
    MemoryAccess access;
    access.space = space;
    return access;
  }
  static MemoryAccess in_surface(unsigned index) {
    MemoryAccess access;
    access.surface = static_cast<std::uint8_t>(index);
    return access;
  }
};

}  // namespace eum::ir
