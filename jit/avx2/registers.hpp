#pragma once
// The register allocator: where each value and each guest register slot is while a block is translated.
//
// Values live in 32-byte chunks (ymm), scalars (general registers) or masks (bits in a general register, or
// lanes of ymm). A register's content is never changed while anything still refers to it, so a value, a copy
// of it and a guest register slot may share one. Every guest slot has a home in the thread's state; a slot
// that is only in a register is dirty. Values that are evicted go to the frame, or are read again from the
// home that still holds them.
#include <asmjit/x86.h>

#include <array>
#include <vector>

#include "jit/avx2/block_code.hpp"
#include "jit/avx2/block_entry.hpp"
#include "jit/avx2/frame.hpp"

namespace eum::jit {

class Registers {
 public:
  Registers(x86::Assembler& a, ConstantPool& pool, const ir::Function& function, const StateLayout& layout);

  // ---- One block
  /// `cache` is what the block finds in registers.
  void begin_block(BlockCode& code, const SlotCache& cache);
  void begin_inst(std::uint32_t position);
  /// Lets registers go that an instruction pinned: it begins on its next chunk and fetches what it needs
  /// anew.
  void unpin();
  /// Ends the lives of operands that `inst` used last, and unpins everything.
  void end_inst(const CodeInst& inst);

  // ---- Vectors: operands are pinned until the end of the instruction.
  unsigned chunks(ir::ValueId value) const { return values_[value].chunks; }
  x86::Ymm in(ir::ValueId value, unsigned chunk = 0);
  /// A register or 32 bytes of memory.
  asmjit::Operand src(ir::ValueId value, unsigned chunk = 0);
  x86::Ymm temp();
  /// Reads `bytes`, rounded up to a power of two; what lies above is undefined.
  void load(x86::Ymm to, x86::Mem from, unsigned bytes);
  /// A register for a result chunk; no operand that is still referred to shares it.
  x86::Ymm out(ir::ValueId value, unsigned chunk = 0);
  /// As out(), for an instruction that reads its operands before it writes: the registers of operands of
  /// `inst` that die here may be taken. Every operand of this chunk must have been fetched.
  x86::Ymm out_over_dying(const CodeInst& inst, unsigned chunk = 0);
  /// The register of an operand's chunk may be overwritten: nothing else refers to it and this is its last
  /// use.
  bool is_dying(const CodeInst& inst, unsigned arg, unsigned chunk) const;
  void bind(ir::ValueId value, unsigned chunk, x86::Ymm reg);
  void alias(ir::ValueId value, ir::ValueId of);
  void define_constant(ir::ValueId value, unsigned chunk, const ConstantPool::Entry& entry);
  /// Every lane, or the scalar, or the mask, is `bits`.
  void define_constant(ir::ValueId value, std::uint64_t bits);
  /// The bits of a value that define_constant made, else null.
  const std::uint64_t* constant(ir::ValueId value) const {
    return values_[value].is_constant ? &values_[value].constant : nullptr;
  }
  bool used(ir::ValueId value) const { return values_[value].next_use != never; }
  /// Frame memory as the place of a result; the caller's code fills it.
  x86::Mem out_memory(ir::ValueId value);

  // ---- Scalars
  x86::Gp in_gp(ir::ValueId value);
  /// A register, memory of the value's size, or an immediate of 32 bits.
  asmjit::Operand src_gp(ir::ValueId value);
  x86::Gp temp_gp();
  x86::Gp out_gp(ir::ValueId value);
  /// The scalar is still in its home: the memory operand, or one with no base.
  x86::Mem scalar_home(ir::ValueId value) const;
  bool is_scalar(ir::ValueId value) const { return values_[value].kind == Kind::Scalar; }

  // ---- Masks
  x86::Gp mask_bits(ir::ValueId mask);
  /// Lanes of `width` bytes, all ones where the mask is one; chunk c holds lanes from c * 32 / width.
  x86::Ymm mask_vector(ir::ValueId mask, unsigned width, unsigned chunk);
  x86::Gp out_bits(ir::ValueId mask) { return out_gp(mask); }
  /// The result mask comes as vector lanes of `width` bytes: bind each chunk with out() or bind().
  void set_mask_width(ir::ValueId mask, unsigned width);

  // ---- Guest register slots
  void read_region(const CodeInst& inst);
  x86::Mem home(unsigned byte_offset, unsigned bytes) const {
    return x86::ptr(state_reg, static_cast<std::int32_t>(layout_.file + byte_offset), bytes);
  }
  /// The slot's current content, in a register.
  x86::Ymm slot_in(unsigned slot);
  asmjit::Operand slot_src(unsigned slot);
  /// The register holds the slot's new content; its home is stale.
  void set_slot(unsigned slot, x86::Ymm reg);
  /// Homes of these bytes hold the current content and nothing caches them: memory may be written directly.
  void open_home(unsigned byte_offset, unsigned bytes);
  /// Homes of these bytes hold the current content.
  void flush_home(unsigned byte_offset, unsigned bytes);
  void flush_all_slots();  ///< every dirty slot to its home
  void forget_slots();     ///< after flush_all_slots: no slot is cached
  void flush_live_out();   ///< end of block: what the block must leave behind

  // ---- Ways between blocks. They emit code and leave the allocator as it is: a block may end in two of
  // them.
  /// Slots in registers.
  SlotCache cached_slots() const;
  /// Dirty slots of `needed` go home.
  void emit_flush(const SlotSet& needed) const;
  /// From what is in registers now to `cache`; dirty slots of `needed` that it does not hold go home.
  void emit_transition(const SlotCache& cache, const SlotSet& needed) const;
  /// From everything at home to `cache`.
  void emit_load(const SlotCache& cache) const;
  void define_home(ir::ValueId value, unsigned byte_offset);

  // ---- Calls
  struct Saved {
    std::uint32_t ymm = 0, gp = 0;
  };
  /// Registers that hold anything now, pinned ones among them.
  Saved in_use() const;
  /// Registers whose content is needed after `inst`.
  Saved in_use_after(const CodeInst& inst) const;
  void emit_save(const Saved& saved);
  void emit_restore(const Saved& saved);
  /// Writes the value's lanes, packed, to the frame at `offset`.
  void store_packed(ir::ValueId value, int offset);
  /// Frame bytes, beyond Frame::spills, that the code needs.
  int spill_bytes() const { return spill_high_; }

 private:
  enum class Kind : std::uint8_t { Vector, Scalar, Mask };
  enum class Where : std::uint8_t { Nowhere, Spill, Home, Pool };
  struct Place {
    std::int8_t reg = -1;
    Where where = Where::Nowhere;
    std::int32_t offset = 0;
  };
  struct Value {
    Kind kind = Kind::Vector;
    std::uint8_t chunks = 0;
    std::uint8_t mask_width = 0;  // of the vector form; 0 = none
    bool is_constant = false;
    bool scalar_float = false;
    std::uint32_t places = 0;  // of chunks, in places_
    std::uint32_t next_use = never;
    Place gp;
    std::uint64_t constant = 0;
  };
  struct Ref {
    std::uint32_t id;
    std::uint8_t chunk;
    bool is_slot;
    bool operator==(const Ref&) const = default;
  };
  struct YmmState {
    std::array<Ref, 8> refs;
    std::uint8_t count = 0;
    bool pinned = false;
  };

  Place& place(ir::ValueId value, unsigned chunk) { return places_[values_[value].places + chunk]; }
  const Place& place(ir::ValueId value, unsigned chunk) const {
    return places_[values_[value].places + chunk];
  }
  void init_value(ir::ValueId value, std::uint32_t first_use);
  x86::Mem memory(const Place& place, unsigned bytes) const;
  std::uint32_t next_slot_use(unsigned slot) const;
  int take_ymm();
  void evict(int reg);
  void add_ref(int reg, Ref ref);
  void drop_ref(int reg, Ref ref);
  int take_gp();
  void spill_gp(int reg);
  void release(ir::ValueId value);
  std::int32_t new_spill(int bytes);
  void write_home(unsigned slot);
  void uncache(unsigned slot);
  void before_home_write(unsigned slot);
  void load_chunk(x86::Ymm to, const x86::Mem& from, ir::ValueId value, unsigned chunk);
  x86::Ymm build_mask_vector(x86::Gp bits, unsigned width, unsigned chunk);

  x86::Assembler& a_;
  ConstantPool& pool_;
  const ir::Function& function_;
  const StateLayout layout_;
  BlockCode* code_ = nullptr;
  std::uint32_t position_ = 0;
  unsigned slots_;
  std::vector<Value> values_;
  std::vector<Place> places_;
  std::array<YmmState, 16> ymm_{};
  std::array<ir::ValueId, 16> gp_owner_{};
  std::uint32_t gp_pinned_ = 0;
  std::uint32_t gp_reserved_ = 0;
  std::vector<std::int8_t> slot_reg_;
  std::vector<std::uint8_t> slot_dirty_;
  std::vector<std::vector<std::pair<ir::ValueId, std::uint8_t>>> home_refs_;
  std::vector<unsigned> touched_slots_;
  int spill_next_ = 0, spill_high_ = 0;
};

}  // namespace eum::jit
