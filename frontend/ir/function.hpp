#pragma once
// A micro-op function: blocks of instructions over block-local SSA values.
// Blocks talk to each other only through architectural state (register file, flags, mask variables); the ops
// that touch it are explicit. It knows nothing of any guest encoding or host.
#include <array>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include "frontend/ir/ops.hpp"
#include "memory/atomics.hpp"

namespace eum::ir {

using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};
inline constexpr BlockId no_block = ~BlockId{0};

/// A region of the register file. Lane i lies at byte
/// offset + ((i / width) * vstride + (i % width) * hstride) * size of the element type.
struct Region {
  std::uint16_t offset = 0;  ///< bytes
  std::uint8_t vstride = 1;  ///< elements
  std::uint8_t width = 1;    ///< elements
  std::uint8_t hstride = 0;  ///< elements

  constexpr unsigned byte_of(unsigned lane, unsigned element_bytes) const {
    return offset + ((lane / width) * vstride + (lane % width) * hstride) * element_bytes;
  }
  constexpr bool operator==(const Region&) const = default;

  /// `lanes` elements one after the other.
  static constexpr Region packed(unsigned offset) { return {static_cast<std::uint16_t>(offset), 1, 1, 0}; }
  /// Elements `stride` apart.
  static constexpr Region strided(unsigned offset, unsigned stride) {
    return {static_cast<std::uint16_t>(offset), static_cast<std::uint8_t>(stride), 1, 0};
  }
  /// The distance between neighbouring lanes in elements if it is the same for all, else -1.
  constexpr int stride(unsigned lanes) const {
    if (lanes == 1) return 1;
    if (width == 1) return vstride;
    if (lanes <= width) return hstride;
    return vstride == width * hstride ? hstride : -1;
  }
};

/// Which memory an access goes to.
enum class MemSpace : std::uint8_t {
  Surface,  ///< binding table entry `surface`; u32 addresses; out of bounds reads 0, writes are dropped
  A64,      ///< the address space; u64 addresses; unmapped: fault
  A32,      ///< the address space, u32 addresses; unmapped: fault
  Scratch,  ///< the thread's scratch; u32 addresses
};

/// What an atomic does: the rows of memory/atomics.def.
using AtomicOp = mem::AtomicOp;

/// Binding table index of shared local memory.
inline constexpr std::uint8_t slm_surface = 254;

/// What a memory op accesses.
struct MemRef {
  MemSpace space = MemSpace::Surface;
  std::uint8_t surface = 0;          ///< binding table index, 254 = shared local memory
  std::uint8_t components = 1;       ///< bit k: component k, at address + k * element size
  AtomicOp atomic = AtomicOp::and_;  ///< op of an atomic
  constexpr bool operator==(const MemRef&) const = default;
};

/// Where control goes.
struct Targets {
  BlockId taken = no_block;
  BlockId fallthrough = no_block;
  constexpr bool operator==(const Targets&) const = default;
};

inline constexpr std::size_t max_args = 5;

/// One micro-op. Which fields mean something follows from its row of ops.def.
struct Inst {
  Inst() : imm(0) {}
  Op op{};
  Type type = Type::u32;
  std::uint8_t lanes = 1;
  std::uint8_t result_count = 0;
  Type from = Type::u32;  ///< Convert, IntToMask: operand type. Memory ops: address type
  std::uint8_t arg_count = 0;
  std::uint32_t guest_ip = 0;  ///< byte offset of the guest instruction that it comes from
  ValueId result = no_value;   ///< the first of result_count consecutive ids
  std::array<ValueId, max_args> args{no_value, no_value, no_value, no_value, no_value};
  ValueId mask = no_value;  ///< optional lane mask; none = all lanes
  union {
    std::uint64_t imm;
    Region region;
    MemRef mem;
    Targets targets;
  };
};

struct ValueInfo {
  Type type;
  std::uint8_t lanes;
};

struct Block {
  explicit Block(std::pmr::memory_resource* memory) : insts(memory) {}
  std::pmr::vector<Inst> insts;          ///< the last one is the only Control op
  std::uint32_t guest_ip = 0;            ///< byte offset of its first guest instruction
  std::uint32_t guest_instructions = 0;  ///< how many guest instructions it stands for (statistics, budget)
};

using PoolEntry = std::array<std::uint64_t, max_lanes>;

struct Function {
  explicit Function(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : blocks(memory), values(memory), pool(memory), memory(memory) {}

  std::string name;
  std::string family;              ///< "gen8", "gen9", "x86", ...
  unsigned simd = 1;               ///< lanes of the execution mask
  unsigned file_bytes = 0;         ///< of the register file
  unsigned slot_bytes = 32;        ///< of one register
  unsigned mask_variables = 1;     ///< variable 0 is the execution mask
  std::pmr::vector<Block> blocks;  ///< block 0 is the entry
  std::pmr::vector<ValueInfo> values;
  std::pmr::vector<PoolEntry> pool;  ///< lane values of vconst, each in the low bits
  std::vector<std::string> strings;  ///< of trap
  std::pmr::memory_resource* memory;

  BlockId add_block(std::uint32_t guest_ip = 0) {
    blocks.emplace_back(memory);
    blocks.back().guest_ip = guest_ip;
    return static_cast<BlockId>(blocks.size() - 1);
  }
  ValueId add_value(Type type, unsigned lanes) {
    values.push_back({type, static_cast<std::uint8_t>(lanes)});
    return static_cast<ValueId>(values.size() - 1);
  }
};

/// The blocks that control may reach from this terminator; jump_ip may reach any.
inline std::array<BlockId, 2> successors(const Inst& terminator) {
  switch (terminator.op) {
    case Op::jump:
    case Op::wait:
      return {terminator.targets.taken, no_block};
    case Op::branch_any:
      return {terminator.targets.taken, terminator.targets.fallthrough};
    default:
      return {no_block, no_block};
  }
}

}  // namespace eum::ir
