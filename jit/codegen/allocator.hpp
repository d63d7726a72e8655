#pragma once
// Allocator: the registers of the host while a block is translated. `use` brings a value into a register,
// `scratch` takes one for a temporary, `define` takes one for a result; all are pinned until unpin(). To make
// room, values are spilled to the frame, and slots to the register file in memory, where they belong anyway.
//
// It only decides; Moves emits the code. It must not know any host's instructions.
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "jit/codegen/block_code.hpp"
#include "jit/codegen/constant_pool.hpp"
#include "jit/codegen/entry_state.hpp"
#include "jit/codegen/frame_slots.hpp"
#include "jit/codegen/loop_scalars.hpp"
#include "jit/codegen/register_file.hpp"
#include "jit/codegen/values.hpp"

namespace eum::jit::codegen {

class Allocator;

/// Values in vector registers, chunk by chunk.
class Vectors {
 public:
  explicit Vectors(Allocator& all) : all_(all) {}

  unsigned chunks(ir::ValueId value) const;
  unsigned use(ir::ValueId value, unsigned chunk);
  /// Where that many bytes of the chunk can be read from memory: only if it is in no register.
  std::optional<Location> in_memory(ir::ValueId value, unsigned chunk, unsigned bytes) const;
  unsigned scratch();
  /// One of Target::lane_registers, unless all are pinned or hold lanes of masks already.
  unsigned lane_scratch();
  unsigned define(ir::ValueId value, unsigned chunk);
  /// As define(), for an instruction that reads its operands before it writes: the register of an operand of
  /// `inst` that dies here may be taken. Every operand of this chunk must have been used.
  unsigned define_over(const CodeInst& inst, unsigned chunk);
  /// Whether the operand's register may be overwritten: nothing else refers to it and this is its last use.
  bool is_dying(const CodeInst& inst, unsigned arg, unsigned chunk);
  /// As define_over(), with the register of an operand that is_dying.
  unsigned take_over(const CodeInst& inst, unsigned arg, unsigned chunk);
  /// Makes the register, which may hold something else too, the chunk's.
  void bind(ir::ValueId value, unsigned chunk, unsigned reg);
  /// Makes the chunk an alias of one of another value, wherever that is, even in memory alone.
  void share(ir::ValueId value, unsigned chunk, ir::ValueId of, unsigned of_chunk);
  void define_constant(ir::ValueId value, unsigned chunk, const ConstantPool::Entry& entry);
  /// The bytes of a chunk that define_constant made, else null.
  const ConstantPool::Entry* constant(ir::ValueId value, unsigned chunk) const;

 private:
  friend class Allocator;
  friend class Slots;
  unsigned take();
  unsigned take_for_lanes();
  void relocate(unsigned from, unsigned to);
  std::uint32_t movable() const;
  bool holds_lanes(unsigned reg) const;
  void spill(unsigned reg);
  void pin(unsigned reg);
  bool is_whole_slot(ir::ValueId value, unsigned chunk) const;
  std::optional<unsigned> same_constant(ir::ValueId value, Location constant);

  Allocator& all_;
};

/// Scalars, bits of masks, and pointers to memory that a block accesses, in general registers.
class Generals {
 public:
  explicit Generals(Allocator& all) : all_(all) { owner_.fill(ir::no_value); }

  unsigned use(ir::ValueId value);
  /// A register with the 8 bytes at `from`, which do not change while the block executes. It keeps them until
  /// something else needs it, and must not be written.
  unsigned use_pointer(Location from);
  /// Where the value of its type's size can be read from memory: only if it is in no register.
  std::optional<Location> in_memory(ir::ValueId value) const;
  unsigned scratch();
  unsigned define(ir::ValueId value);
  /// As define(), for an instruction that writes its result over operand `arg`, which has been used: its
  /// register if it dies here. Otherwise its content has to be copied.
  unsigned define_over(const CodeInst& inst, unsigned arg);
  /// Whether the operand's register may be overwritten: this is its last use.
  bool is_dying(const CodeInst& inst, unsigned arg) const;
  void unpin(unsigned reg) { pinned_ &= ~(1u << reg); }

 private:
  friend class Allocator;
  friend class Masks;
  friend class Slots;
  unsigned take();
  void spill(unsigned reg);
  void begin_block();
  /// Registers with a value or a pointer.
  std::uint32_t held() const;

  Allocator& all_;
  std::array<ir::ValueId, 32> owner_;
  std::array<Location, 32> pointers_;  ///< what registers without an owner hold
  std::uint32_t pinned_ = 0;
  std::uint32_t reserved_ = 0;  ///< registers that the block may not use
};

/// The forms of masks in which an op is done.
struct MaskForms {
  unsigned width = 0;  ///< bytes of the lanes; 0: not in lanes
  bool bits = false;
};

/// The forms of a mask: bits, one per lane, in a general register; lanes of each requested width, all ones or
/// all zeros, in vectors; or, on hosts that have them, mask registers. A mask register is never spilled:
/// before it is taken, the mask's bits are computed.
class Masks {
 public:
  explicit Masks(Allocator& all) : all_(all) { owner_.fill({}); }

  /// General register.
  unsigned bits(ir::ValueId mask);
  /// Vector register with lanes of `width` bytes; chunk c holds lanes from c * vector_bytes / width.
  unsigned lanes(ir::ValueId mask, unsigned width, unsigned chunk);
  /// The same for users of only the sign of each lane, such as blends: it takes fewer instructions.
  unsigned signs(ir::ValueId mask, unsigned width, unsigned chunk);
  /// Whether there is a vector as lanes() returns it.
  bool holds_lanes(ir::ValueId mask, unsigned width, unsigned chunk) {
    return place(mask, width, chunk).somewhere();
  }
  /// Whether something behind this access uses lanes of its mask.
  bool needs_lanes_behind(const CodeInst& access) const;
  /// The best forms for a logical op on masks. Only the signs of the lanes are valid.
  MaskForms forms(const CodeInst& inst);
  /// Whether the mask has valid signs in lanes that were not made from its bits.
  bool has_own_signs(ir::ValueId mask, unsigned width);
  /// Whether more than the signs of its lanes is valid.
  bool has_whole_lanes(ir::ValueId mask, unsigned width) const;
  /// Notes that only the signs of its defined lanes are valid.
  void keep_signs_only(ir::ValueId mask, unsigned width);
  /// The result is computed as lanes of `width` bytes: each chunk is then defined or bound as that of a
  /// vector, or with define_chunk.
  void define_lanes(ir::ValueId mask, unsigned width);
  /// Despite mask registers the lanes will be in vectors: only bits() and signs() may then be called.
  void keep_in_vectors(ir::ValueId mask);
  bool in_vectors(ir::ValueId mask) const;
  /// Whether bits() and signs() suffice for all users of the result of `compare`, and vectors are faster:
  /// they become bits, and blend, some cycles sooner than mask registers do (an EPYC of Zen 4: loops8 0.96,
  /// group_walk 0.83).
  bool suits_vectors(const CodeInst& compare, unsigned width) const;
  /// The mask consists of the bits of `of` from `first_lane` on: it may take its lanes too.
  void note_part(ir::ValueId mask, ir::ValueId of, unsigned first_lane);
  /// Gives a slice the lanes of its operand, if they are in registers and nothing needs its bits.
  bool take_part(const CodeInst& slice);
  /// Whether something may use the bits of the result, a mask, or of masks that are computed from it.
  bool is_used_in_bits(const CodeInst& inst, unsigned depth = 0) const;

  /// Mask register with the lanes of chunk c, as in lanes().
  unsigned chunk(ir::ValueId mask, unsigned width, unsigned chunk);
  unsigned define_chunk(ir::ValueId mask, unsigned chunk);

 private:
  friend class Allocator;
  friend class Slots;
  struct Owner {
    ir::ValueId mask = ir::no_value;
    std::uint8_t chunk = 0;
  };
  Place& place(ir::ValueId mask, unsigned width, unsigned chunk);
  bool has_bits(ir::ValueId mask) const;
  bool is_used_in_lanes(ir::ValueId mask, std::uint32_t at, unsigned depth) const;
  void take_validity(ir::ValueId mask, ir::ValueId whole, unsigned width);
  bool has_signs(ir::ValueId mask, unsigned width);
  unsigned lanes_from_bits(ir::ValueId mask, unsigned width, unsigned chunk);
  unsigned known_lanes(ir::ValueId mask, unsigned width, unsigned chunk);
  bool take_from_whole(ir::ValueId mask, unsigned width, unsigned chunk, bool signs);
  bool take_from_wider(ir::ValueId mask, unsigned width, unsigned chunk);
  bool take_from_narrower(ir::ValueId mask, unsigned width, unsigned chunk);
  bool has_lanes(ir::ValueId mask, unsigned width, unsigned chunk, bool signs);
  bool begins_pair(ir::ValueId mask, unsigned width, unsigned chunk);
  void bind_lanes(ir::ValueId mask, unsigned width, unsigned chunk, unsigned reg);
  unsigned take();
  void bind(ir::ValueId mask, unsigned chunk, unsigned reg);
  void drop(ir::ValueId mask);

  Allocator& all_;
  std::array<Owner, 8> owner_;
  std::uint32_t pinned_ = 0;
};

/// Slots of the register file: which are in registers, and which of those are newer there than in memory.
class Slots {
 public:
  /// `masks`: registers that the lanes of the execution mask take.
  Slots(Allocator& all, unsigned count, unsigned masks)
      : all_(all),
        count_(count),
        reg_(count + masks, -1),
        dirty_(count + masks, 0),
        backing_(count + masks) {}

  unsigned slots() const { return count_; }
  /// Slots after those of the file: vectors of the execution mask, with lanes of mask_width bytes of which
  /// only the signs are valid. They are in no memory.
  unsigned mask_slots() const { return static_cast<unsigned>(reg_.size()) - count_; }
  bool is_mask(unsigned slot) const { return slot >= count_; }
  /// `mask` is a copy of the execution mask: it gets the lanes that are in registers, if all are.
  bool read_mask(ir::ValueId mask);
  /// The execution mask becomes `mask`, and takes its lanes if they are in registers.
  void write_mask(ir::ValueId mask);
  /// In the block with which threads begin: bit d of `dwords` says that dword d of the register file equals
  /// that of the group's header, until it is written.
  void begin_with_header(std::uint32_t dwords) { header_dwords_ = dwords; }
  /// Whether the instruction may read the first slot of the register file, rather than the group's header.
  bool reads_first_slot(const CodeInst& inst) const;
  /// Whether something reads the group's header instead of the register file.
  bool reads_header() const { return reads_header_; }
  /// The result of a reg_read of consecutive elements.
  void read(const CodeInst& inst);
  /// The slot's current content in a vector register.
  unsigned use(unsigned slot);
  std::optional<Location> in_memory(unsigned slot) const;
  /// Whether a register holds content that memory does not have.
  bool is_newer(unsigned slot) const { return reg_[slot] >= 0 && dirty_[slot]; }
  /// Whether a write of `bytes` of the slot, a bit each, should be merged into a register: in memory it would
  /// be read back together with its neighbours.
  bool is_joined(unsigned slot, std::uint64_t bytes) const;
  /// The register holds the slot's new content; memory has an older one.
  void set(unsigned slot, unsigned reg);
  /// Brings these bytes of memory up to date.
  void write_back(unsigned offset, unsigned bytes);
  /// The same, and forgets the registers that cache them: memory may then be written directly.
  void write_back_and_invalidate(unsigned offset, unsigned bytes);
  void write_back_all();
  void invalidate_all();
  /// Moves every slot to memory and out of registers, so that a call has none to save and restore.
  void leave_registers();
  /// At the end of the block: writes back what later blocks read, and what is observed there.
  void write_back_live();

  /// Slots in registers.
  EntryState cached() const;
  /// Cached slots that are newer than memory. Valid until the next call.
  const EntryState& dirty() const;

 private:
  friend class Allocator;
  friend class Vectors;
  bool is_in_group_header(const CodeInst& inst) const;
  void begin_block(const EntryState& entry);
  void store(unsigned slot);
  void uncache(unsigned slot);
  void before_overwrite(unsigned slot);
  /// The value's chunk (general_chunk: the scalar) relies on these bytes of the file in memory.
  void note_backing(unsigned offset, unsigned bytes, ir::ValueId value, unsigned chunk);

  static constexpr std::uint8_t general_chunk = 0xff;
  Allocator& all_;
  unsigned count_;
  std::vector<std::int8_t> reg_;
  std::vector<std::uint8_t> dirty_;
  std::vector<std::vector<std::pair<ir::ValueId, std::uint8_t>>>
      backing_;                    // values that rely on a slot's memory
  std::vector<unsigned> touched_;  // slots with an entry in backing_
  mutable EntryState listed_;      // by dirty()
  std::uint32_t header_dwords_ = 0;
  bool reads_header_ = false;
};

/// Registers that a call must keep.
struct LiveRegisters {
  std::uint32_t vectors = 0, generals = 0, masks = 0;
};

class Allocator {
 public:
  Allocator(const Target& target, Moves& moves, ConstantPool& pool, const ir::Function& function,
            std::int32_t frame_base);

  // ---- One block
  /// `entry` and `scalars` are what the block expects in registers. General registers that are `reserved`
  /// hold something else, which calls keep.
  void begin_block(BlockCode& code, const EntryState& entry, std::span<const LoopScalar> scalars,
                   std::uint32_t reserved = 0);
  /// The scalar of exactly these bytes of the register file that has a register in this block, else null.
  const LoopScalar* loop_scalar(unsigned offset, unsigned bytes) const;
  void begin_inst(std::uint32_t position) { position_ = position; }
  /// Unpins the registers of an instruction, which then begins its next chunk and fetches its operands anew.
  void unpin();
  /// Ends the lives of operands that `inst` used last, and unpins everything.
  void end_inst(const CodeInst& inst);

  Vectors vectors;
  Generals generals;
  Masks masks;
  Slots slots;

  // ---- Values of any kind
  bool is_scalar(ir::ValueId value) const { return values_[value].kind == ValueKind::Scalar; }
  bool used(ir::ValueId value) const { return values_[value].next_use != never; }
  /// The value becomes another name of `of`.
  void alias(ir::ValueId value, ir::ValueId of);
  /// Every lane, or the scalar, or the mask, is `bits`.
  void define_constant(ir::ValueId value, std::uint64_t bits);
  /// The bits of a value that define_constant made, else null.
  const std::uint64_t* constant(ir::ValueId value) const {
    return values_[value].is_constant ? &values_[value].constant : nullptr;
  }
  /// The value is the memory of the register file from `offset` on, which is up to date.
  void define_in_file(ir::ValueId value, unsigned offset);
  /// Where all of the value can be read, if it is one chunk or a scalar in no register.
  std::optional<Location> whole_in_memory(ir::ValueId value) const;

  // ---- Edges between blocks. They emit code and do not change the allocation: a block may end in two of
  // them.
  /// Writes dirty slots of `needed` to memory.
  void emit_write_back(const BitSet& needed) const;
  /// Moves what is in registers to `entry` and `scalars`; dirty slots of `needed` that `entry` does not hold
  /// go to memory.
  void emit_edge(const EntryState& entry, std::span<const LoopScalar> scalars, const BitSet& needed) const;
  /// Whether emit_edge() emits nothing.
  bool is_free_edge(const EntryState& entry, std::span<const LoopScalar> scalars, const BitSet& needed) const;
  /// Loads `entry` and `scalars`, with everything in memory.
  void emit_entry(const EntryState& entry, std::span<const LoopScalar> scalars) const;

  // ---- Calls
  /// Registers that hold anything now, pinned ones among them.
  LiveRegisters live_registers() const;
  /// Registers whose content is needed after `inst`.
  LiveRegisters live_after(const CodeInst& inst) const;

  /// Bytes of frame, from its beginning, that the code needs.
  std::int32_t frame_end() const { return frame_.end(); }
  const Target& target() const { return target_; }

 private:
  friend class Vectors;
  friend class Generals;
  friend class Masks;
  friend class Slots;

  void release(ir::ValueId value);
  void release_copy(Place& place, bool is_vector) {
    if (place.copy.where == Location::Where::Frame) {
      if (is_vector)
        frame_.release_vector(place.copy.offset);
      else
        frame_.release_word(place.copy.offset);
    }
    place = {};
  }
  unsigned vector_bytes() const { return target_.vector_bytes; }
  /// As next_read, but a slot that must be stored is nearer than one that need not be.
  std::uint32_t next_slot_use(unsigned slot);
  void load(const LoopScalar& scalar) const;

  const Target target_;
  Moves& moves_;
  ConstantPool& pool_;
  const ir::Function& function_;
  BlockCode* code_ = nullptr;
  std::uint32_t position_ = 0;
  std::span<const LoopScalar> scalars_;  // of the block
  std::uint32_t reserved_ = 0;           // vector registers that they have
  Values values_;
  VectorFile vector_file_;
  FrameSlots frame_;
};

}  // namespace eum::jit::codegen
