#pragma once
// A micro-op function: blocks of instructions over block-local SSA values.
// Blocks communicate only through architectural state (register file, flags, mask variables); the ops that
// access it are explicit. It knows nothing of any guest encoding or host.
#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "frontend/ir/image_access.hpp"
#include "frontend/ir/memory_access.hpp"
#include "frontend/ir/ops.hpp"

namespace eum::ir {

using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};
inline constexpr BlockId no_block = ~BlockId{0};

/// A region of the register file. Lane i lies at byte
/// offset + ((i / width) * vstride + (i % width) * hstride) * size of the element type.
struct Region {
  std::uint32_t offset = 0;  ///< bytes
  std::uint8_t vstride = 1;  ///< elements
  std::uint8_t width = 1;    ///< elements
  std::uint8_t hstride = 0;  ///< elements

  constexpr unsigned byte_of(unsigned lane, unsigned element_bytes) const {
    return offset + ((lane / width) * vstride + (lane % width) * hstride) * element_bytes;
  }
  constexpr bool operator==(const Region&) const = default;

  /// Consecutive elements.
  static constexpr Region packed(unsigned offset) { return {offset, 1, 1, 0}; }
  /// Elements `stride` apart.
  static constexpr Region strided(unsigned offset, unsigned stride) {
    return {offset, static_cast<std::uint8_t>(stride), 1, 0};
  }
  /// The distance between neighbouring lanes in elements if it is the same for all, else -1.
  constexpr int stride(unsigned lanes) const {
    if (lanes == 1) return 1;
    if (width == 1) return vstride;
    if (lanes <= width) return hstride;
    return vstride == width * hstride ? hstride : -1;
  }
};

/// Which source values the lanes of an OwnInsts scatter read: each lane the next one, or all the same.
enum class OwnValues : std::uint8_t { None, Each, Same };

/// Describes a reg_scatter whose lanes are consecutive guest instructions: each reads its source value after
/// the earlier ones have written theirs. The second operand holds the values they read if no lane writes to
/// them.
struct OwnInsts {
  std::uint32_t source = 0;   ///< byte offset of the first source value in the register file
  std::uint16_t ip_step = 0;  ///< from the guest_ip of one lane to that of the next
  OwnValues values = OwnValues::None;
  std::uint8_t lane : 7 = 0;  ///< index of lane 0 within its guest instruction
  /// Lane k is lane `lane` + k of its guest instruction; otherwise each is lane `lane` of its own.
  bool goes_up : 1 = false;
  constexpr bool given() const { return values != OwnValues::None; }
  /// Bytes read from `source` on by `lanes` lanes of `bytes` bytes each.
  constexpr std::uint32_t source_bytes(unsigned lanes, unsigned bytes) const {
    return values == OwnValues::Same ? bytes : lanes * bytes;
  }
  /// Index of lane `index` within its guest instruction.
  constexpr unsigned guest_lane(unsigned index) const { return lane + (given() && !goes_up ? 0 : index); }
  constexpr std::uint32_t source_of(unsigned lane, unsigned bytes) const {
    return source + (values == OwnValues::Same ? 0 : lane * bytes);
  }
  constexpr bool operator==(const OwnInsts&) const = default;
};

/// Where control goes.
struct Targets {
  BlockId taken = no_block;
  BlockId fallthrough = no_block;
  constexpr bool operator==(const Targets&) const = default;
};

/// One micro-op. Its row of ops.def determines which fields are meaningful. Its operands are
/// Function::args(inst).
struct Inst {
  Inst() : imm(0) {}
  Op op{};
  Type type = Type::u32;
  std::uint8_t lanes = 1;
  Type from = Type::u32;           ///< operand type, where the shape has one
  std::uint16_t result_count = 0;  ///< consecutive values from `result` on
  std::uint16_t arg_count = 0;
  std::uint32_t guest_ip = 0;   ///< byte offset of the guest instruction that it comes from
  ValueId result = no_value;    ///< the first of result_count consecutive ids
  std::uint32_t first_arg = 0;  ///< in Function::operands
  ValueId mask = no_value;      ///< optional lane mask; none = all lanes
  union {
    std::uint64_t imm;
    Region region;
    OwnInsts own;
    Targets targets;
  };
};
static_assert(sizeof(Inst) == 40 || sizeof(Inst) == 32);

struct ValueInfo {
  Type type;
  std::uint8_t lanes;
};

struct Block {
  explicit Block(std::pmr::memory_resource* memory) : insts(memory) {}
  std::pmr::vector<Inst> insts;          ///< the last one is the only Control op
  std::uint32_t guest_ip = 0;            ///< byte offset of its first guest instruction
  std::uint32_t guest_instructions = 0;  ///< how many guest instructions it stands for (statistics, budget)
  /// A thread whose budget is used up pauses before it enters the block. Engines also mark the targets of
  /// back edges, see CompileOptions of jit/engine.hpp.
  bool safepoint = false;
};

/// As a thread begins, the qword at byte `offset` of the register file is the address at which surface
/// `surface` of the binding table begins.
struct PointerArgument {
  std::uint32_t offset = 0;
  std::uint8_t surface = 0;
  bool operator==(const PointerArgument&) const = default;
};

/// What launches promise of the local ids of the channels with which threads begin, which are the lowest
/// ones: `count` elements of 16 bits from byte `offset` of the register file on increase by 1 within each
/// `run` of them, from a multiple of `run`, and none is above 0x7fff. In the rows after it, if there are any,
/// the elements of a run are then all equal.
struct ConsecutiveIds {
  std::uint32_t offset = 0;
  std::uint32_t count = 0;
  std::uint32_t run = 0;  ///< a power of two; 0: nothing is promised
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;  ///< from one row to the next, where there are several

  std::uint32_t end() const { return offset + (rows - 1) * row_bytes + 2 * count; }
  bool operator==(const ConsecutiveIds&) const = default;
};

using PoolEntry = std::array<std::uint64_t, max_lanes>;

struct Function {
  explicit Function(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : blocks(memory),
        values(memory),
        operands(memory),
        accesses(memory),
        images(memory),
        pool(memory),
        resource(memory) {}

  std::string name;
  std::string family;           ///< "gen8", "gen9", "x86", ...
  unsigned simd = 1;            ///< lanes of the execution mask
  unsigned file_bytes = 0;      ///< of the register file
  unsigned indirect_bytes = 0;  ///< bytes of it that register addresses reach; 0 = all
  unsigned slot_bytes = 32;     ///< of one register
  unsigned flag_bits = 64;      ///< of the flag registers
  unsigned mask_variables = 1;  ///< variable 0 is the execution mask
  /// park_ips[k]: guest ip where the channels of mask variable k + 1 are parked; may be shorter.
  std::vector<std::uint32_t> park_ips;
  std::pmr::vector<Block> blocks;  ///< block 0 is the entry
  std::pmr::vector<ValueInfo> values;
  std::pmr::vector<ValueId> operands;       ///< of all instructions; see args()
  std::pmr::vector<MemoryAccess> accesses;  ///< indexed by instructions with a Memory attribute
  std::pmr::vector<ImageAccess> images;     ///< indexed by instructions with an Image attribute
  std::pmr::vector<PoolEntry> pool;         ///< lane values of vconst, each in the low bits
  std::vector<std::string> strings;         ///< texts of traps
  std::vector<PointerArgument> pointers;    ///< what launches promise of threads
  ConsecutiveIds ids;                       ///< likewise
  bool disjoint_surfaces = false;           ///< a promise like LaunchFacts::disjoint_surfaces
  std::pmr::memory_resource* resource;

  /// Where the register file ends for reg_gather and reg_scatter.
  unsigned indirect_end() const { return indirect_bytes != 0 ? indirect_bytes : file_bytes; }

  BlockId add_block(std::uint32_t guest_ip = 0) {
    blocks.emplace_back(resource);
    blocks.back().guest_ip = guest_ip;
    return static_cast<BlockId>(blocks.size() - 1);
  }
  ValueId add_value(Type type, unsigned lanes) {
    values.push_back({type, static_cast<std::uint8_t>(lanes)});
    return static_cast<ValueId>(values.size() - 1);
  }

  std::span<const ValueId> args(const Inst& inst) const {
    return std::span<const ValueId>(operands).subspan(inst.first_arg, inst.arg_count);
  }
  std::span<ValueId> args(const Inst& inst) {
    return std::span<ValueId>(operands).subspan(inst.first_arg, inst.arg_count);
  }
  ValueId arg(const Inst& inst, unsigned k) const {
    assert(k < inst.arg_count);
    return operands[inst.first_arg + k];
  }
  /// Gives `inst` the operands `list` in place of those it had.
  void set_args(Inst& inst, std::span<const ValueId> list) {
    inst.first_arg = static_cast<std::uint32_t>(operands.size());
    inst.arg_count = static_cast<std::uint16_t>(list.size());
    operands.insert(operands.end(), list.begin(), list.end());
  }
  void set_args(Inst& inst, std::initializer_list<ValueId> list) {
    set_args(inst, std::span(list.begin(), list.size()));
  }

  /// The same instruction with operands of its own, which may be changed in place.
  Inst copy(const Inst& inst) {
    const auto own = args(inst);
    Inst copied = inst;
    set_args(copied, std::vector<ValueId>(own.begin(), own.end()));
    return copied;
  }

  /// The access of an instruction with a Memory attribute.
  const MemoryAccess& access(const Inst& inst) const { return accesses[static_cast<std::size_t>(inst.imm)]; }
  void set_access(Inst& inst, const MemoryAccess& access) {
    inst.imm = accesses.size();
    accesses.push_back(access);
  }
  /// The access of an instruction with an Image attribute.
  const ImageAccess& image(const Inst& inst) const { return images[static_cast<std::size_t>(inst.imm)]; }
  void set_image(Inst& inst, const ImageAccess& image) {
    inst.imm = images.size();
    images.push_back(image);
  }
};

/// The blocks that this terminator may branch to; jump_ip may reach any.
inline std::array<BlockId, 2> successors(const Inst& terminator) {
  switch (shape_of(terminator.op).targets()) {
    case 1:
      return {terminator.targets.taken, no_block};
    case 2:
      return {terminator.targets.taken, terminator.targets.fallthrough};
    default:
      return {no_block, no_block};
  }
}

/// For each block, the blocks that may branch to it other than by jump_ip.
inline std::vector<std::vector<BlockId>> predecessors(const Function& function) {
  std::vector<std::vector<BlockId>> blocks(function.blocks.size());
  for (BlockId b = 0; b < function.blocks.size(); ++b)
    for (const BlockId target : successors(function.blocks[b].insts.back()))
      if (target != no_block) blocks[target].push_back(b);
  return blocks;
}

/// The lowest `lanes` bits.
constexpr std::uint32_t lane_mask(unsigned lanes) {
  return lanes >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << lanes) - 1;
}

}  // namespace eum::ir
