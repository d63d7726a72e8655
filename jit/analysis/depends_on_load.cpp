#include "jit/analysis/depends_on_load.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// What a value depends on before the instruction that is looked at, from the last one up.
class Needs {
 public:
  explicit Needs(const Function& function)
      : function_(function),
        values_(function.values.size()),
        slots_(function.file_bytes / function.slot_bytes + 1),
        flags_(function.flag_bits) {}

  void add(ValueId value) { values_[value] = true; }
  bool contain_result_of(const Inst& inst) const {
    for (unsigned k = 0; k < inst.result_count; ++k)
      if (values_[inst.result + k]) return true;
    return false;
  }
  bool contain_what_is_written_by(const Inst& write) {
    const auto [state, range] = state_of(write);
    return std::any_of(state.begin() + range.first, state.begin() + range.last + 1, std::identity());
  }
  void add_operands_of(const Inst& inst) {
    for (const ValueId value : function_.args(inst)) add(value);
    if (inst.mask != no_value) add(inst.mask);
    if (inst.op != Op::reg_read && inst.op != Op::flag_read) return;
    const auto [state, range] = state_of(inst);
    std::fill(state.begin() + range.first, state.begin() + range.last + 1, true);
  }

 private:
  struct State {
    std::vector<bool>& state;
    SlotRange range;
  };
  /// Where a read or write of registers or flags does it.
  State state_of(const Inst& inst) {
    if (inst.op == Op::reg_read || inst.op == Op::reg_write)
      return {slots_, slots_of(inst, function_.slot_bytes)};
    const auto first = static_cast<unsigned>(inst.imm);
    return {flags_, {first, first + inst.lanes - 1u}};
  }

  const Function& function_;
  std::vector<bool> values_, slots_, flags_;
};

}  // namespace

bool depends_on_load(const Function& function, std::span<const Inst> insts, ValueId value) {
  Needs needs(function);
  needs.add(value);
  for (std::size_t i = insts.size(); i-- > 0;) {
    const Inst& inst = insts[i];
    const bool writes = inst.op == Op::reg_write || inst.op == Op::flag_write;
    if (!(writes ? needs.contain_what_is_written_by(inst) : needs.contain_result_of(inst))) continue;
    if (inst.op == Op::load) return true;
    needs.add_operands_of(inst);
  }
  return false;
}

}  // namespace eum::jit
