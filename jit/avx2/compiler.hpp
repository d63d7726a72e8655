#pragma once
// Translates one function: both versions of each block, the ways between them, calls into C++ and what is
// cold. Emitters (emit/*.cpp) use its public part; registers are the business of Registers.
#include <asmjit/x86.h>

#include <functional>
#include <vector>

#include "jit/avx2/block_code.hpp"
#include "jit/avx2/block_entry.hpp"
#include "jit/avx2/frame.hpp"
#include "jit/avx2/registers.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {

class Compiler {
 public:
  Compiler(const ir::Function& function, const Liveness& liveness, asmjit::CodeHolder& code);

  /// Emits everything; the entry is at the beginning. Throws EngineBug.
  void run(bool annotate);

  // ---- For emitters
  x86::Assembler a;
  ConstantPool pool;
  const ir::Function& function;
  const StateLayout layout;
  Registers r;

  x86::Mem state(std::size_t offset, unsigned bytes) const {
    return x86::ptr(state_reg, static_cast<std::int32_t>(offset), bytes);
  }
  x86::Mem mask_variable(std::uint64_t index) const { return state(layout.masks + 4 * index, 4); }
  ir::Type type_of(ir::ValueId value) const { return function.values[value].type; }
  unsigned lanes_of(ir::ValueId value) const { return function.values[value].lanes; }

  /// The op by its function of semantics.hpp.
  void call_lane_function(const CodeInst& inst);
  /// Calls `target` in the middle of the code: `arguments` sets argument registers once live registers are
  /// saved. A function that returns false makes the code go on at `on_false`.
  void call(const CodeInst& inst, const void* target, const std::function<void()>& arguments,
            const asmjit::Label* on_false = nullptr);
  /// The same, with these registers to be saved.
  void call(const Registers::Saved& saved, const void* target, const std::function<void()>& arguments,
            const asmjit::Label* on_false = nullptr);
  /// Loads a result from packed lanes in the frame.
  void load_packed(ir::ValueId value, int offset);
  /// Code out of the way, emitted behind the last block.
  void cold(std::function<void()> emit) { cold_.push_back(std::move(emit)); }
  /// Leaves with this status; for cold code.
  void leave(Status status);
  void fault(FaultKind kind, const CodeInst& inst, x86::Gp address) {
    fault(kind, asmjit::Imm(inst.guest_ip), address);
  }

  void fault(FaultKind kind, const asmjit::Operand& guest_ip, x86::Gp address);

  // ---- Ends of blocks
  void go_to(ir::BlockId target);
  /// To the block that begins at the guest byte offset in `ip`, with every slot at home: through one
  /// dispatcher a function, so that code grows with blocks plus jumps, not with their product.
  void go_to_ip(x86::Gp ip, std::uint32_t guest_ip);
  void branch(x86::Gp bits, ir::BlockId taken, ir::BlockId fallthrough);
  asmjit::Label epilogue() const { return epilogue_; }
  bool full() const { return full_; }
  ir::BlockId current() const { return current_; }

 private:
  void prologue();
  void enter_from_home(ir::BlockId target);
  void dispatcher();
  void entries();
  void block(ir::BlockId id, bool full);
  /// A version of a block: where it begins, what it finds in registers.
  struct Version {
    asmjit::Label label;
    asmjit::Label from_home;  // valid once a way with every slot at home leads here
    SlotCache cache;
    bool agreed = false;
  };
  Version& version(ir::BlockId block, bool full) { return versions_[2 * block + (full ? 1 : 0)]; }
  /// The version's entry state, decided now if this is the first way to it.
  const SlotCache& agree(ir::BlockId block, bool full);
  SlotSet needed(ir::BlockId block, bool full) const;
  asmjit::Label home_entry(ir::BlockId block, bool full);
  void home_entries();
  void enter_same_version(ir::BlockId target);
  void change_version(ir::BlockId target);
  void annotate(const CodeInst& inst);
  bool is_next(ir::BlockId target, bool full) const {
    return full == full_ && target == current_ + 1 && target < function.blocks.size();
  }

  const Liveness& liveness_;
  LoopSlots loops_;
  BlockCode code_;
  std::vector<Version> versions_;
  std::vector<ir::BlockId> resume_points_;  // where a run may begin, or a jump_ip lead
  std::vector<std::function<void()>> cold_;
  asmjit::Label epilogue_;
  asmjit::Label enter_;        // goes to block eax with every slot at home
  asmjit::Label dispatch_;     // goes to the block at ip eax, or faults at instruction ecx
  asmjit::Label entry_table_;  // of each version of each block, from the table on
  bool dispatches_ = false;
  std::size_t frame_patch_ = 0;
  ir::BlockId current_ = 0;
  bool full_ = true;
  bool partial_versions_ = true;
  bool annotate_ = false;
  std::uint32_t annotated_ip_ = ~0u;
};

}  // namespace eum::jit
