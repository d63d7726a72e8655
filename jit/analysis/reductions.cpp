#include "jit/analysis/reductions.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

constexpr unsigned most_bytes = 4, most_terms = 32;

bool is_packed(const Inst& access) {
  return ir::is_int(access.type) && ir::size_of(access.type) <= most_bytes &&
         access.region.stride(access.lanes) == 1;
}

bool is_in_any_order(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::min:
    case Op::max:
      return true;
    default:
      return false;
  }
}

class ReductionFinder {
 public:
  ReductionFinder(const ir::Function& function, ir::BlockId loop) : function_(function) {
    for (const Inst& inst : function.blocks[loop].insts) {
      for (unsigned k = 0; k < inst.result_count; ++k) by_[inst.result + k] = &inst;
      if (inst.op == Op::reg_read) reads_.push_back(&inst);
      if (inst.op == Op::reg_write) writes_.push_back(&inst);
    }
  }

  std::vector<Reduction> run() {
    std::vector<Reduction> found;
    for (const Inst* write : writes_)
      if (auto reduction = of(*write)) found.push_back(std::move(*reduction));
    return found;
  }

 private:
  std::optional<Reduction> of(const Inst& write) {
    const auto overlaps = [&](const Inst* other) { return overlap(slots_of(*other, 1), slots_of(write, 1)); };
    if (!is_packed(write) || std::ranges::count_if(writes_, overlaps) != 1 ||
        std::ranges::count_if(reads_, overlaps) != 1)
      return std::nullopt;
    const Inst& read = **std::ranges::find_if(reads_, overlaps);
    const Inst* last = definition(function_.arg(write, 0));
    const bool is_same = read.region.offset == write.region.offset && read.lanes == write.lanes &&
                         ir::size_of(read.type) == ir::size_of(write.type) && is_packed(read) &&
                         &read < &write;
    if (!is_same || !last || !is_in_any_order(last->op) || !ir::is_int(last->type) ||
        last->lanes != write.lanes)
      return std::nullopt;
    Reduction reduction{last->op, last->type, write.region.offset, write.lanes, function_.arg(write, 0),
                        {},       write.mask};
    seen_.clear();
    const std::size_t most = write.mask == ir::no_value ? most_terms : 1;
    const bool is_whole = collect(reduction.result, read, reduction) && reduction.terms.size() <= most;
    return is_whole ? std::optional(std::move(reduction)) : std::nullopt;
  }

  /// Adds the terms that are added to what `read` reads, in their order; false: the value is not made of it
  /// like that.
  bool collect(ValueId value, const Inst& read, Reduction& to) {
    const Inst* by = definition(value);
    if (by == &read) return true;
    if (!by || by->op != to.op || by->type != to.type || !seen_.insert(by).second) return false;
    const unsigned last = to.op == Op::sub ? 0 : 1;
    for (unsigned k = 0; k <= last; ++k)
      if (collect(function_.arg(*by, k), read, to)) {
        to.terms.push_back(function_.arg(*by, 1 - k));
        return true;
      }
    return false;
  }

  const Inst* definition(ValueId value) const {
    for (;;) {
      const auto found = by_.find(value);
      if (found == by_.end()) return nullptr;
      const Inst& inst = *found->second;
      if (inst.op != Op::bitcast || !ir::is_int(inst.from)) return &inst;
      value = function_.arg(inst, 0);
    }
  }

  const ir::Function& function_;
  std::unordered_map<ValueId, const Inst*> by_;
  std::vector<const Inst*> reads_, writes_;
  std::unordered_set<const Inst*> seen_;  ///< by collect()
};

}  // namespace

std::vector<Reduction> reductions_of(const ir::Function& function, ir::BlockId loop) {
  return ReductionFinder(function, loop).run();
}

}  // namespace eum::jit
