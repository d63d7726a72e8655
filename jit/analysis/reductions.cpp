#include "jit/analysis/reductions.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

constexpr unsigned most_bytes = 4, most_terms = 32;

bool is_packed(const Inst& access) {
  return ir::is_int(access.type) && ir::size_of(access.type) <= most_bytes &&
         (access.lanes == 1 || access.region.stride(access.lanes) == 1);
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
    if (write.mask != ir::no_value || !is_packed(write) || std::ranges::count_if(writes_, overlaps) != 1 ||
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
    Reduction reduction{last->op, last->type, write.region.offset, write.lanes, function_.arg(write, 0), {}};
    const bool is_whole = collect(*last, read, reduction) && reduction.terms.size() <= most_terms;
    // In the order in which they are added.
    std::ranges::reverse(reduction.terms);
    return is_whole ? std::optional(std::move(reduction)) : std::nullopt;
  }

  /// Adds the terms between `read` and the op's result; false: it is not made of it like that.
  bool collect(const Inst& op, const Inst& read, Reduction& to) const {
    for (const Inst* now = &op; to.terms.size() <= most_terms;) {
      const auto leads = [&](unsigned k) {
        const Inst* by = definition(function_.arg(*now, k));
        return by == &read || (by && by->op == to.op && by->type == to.type && leads_to(*by, read, to));
      };
      const unsigned from = leads(0) ? 0 : 1;
      if (from == 1 && (to.op == Op::sub || !leads(1))) return false;
      to.terms.push_back(function_.arg(*now, 1 - from));
      now = definition(function_.arg(*now, from));
      if (now == &read) return true;
    }
    return false;
  }
  /// Whether a sum's first terms are what `read` reads.
  bool leads_to(const Inst& sum, const Inst& read, const Reduction& of) const {
    const Inst* now = &sum;
    for (unsigned count = 0; now && count < most_terms; ++count) {
      if (now == &read) return true;
      if (now->op != of.op || now->type != of.type) return false;
      const Inst *a = definition(function_.arg(*now, 0)), *b = definition(function_.arg(*now, 1));
      const auto may_lead = [&](const Inst* by) { return by && (by == &read || by->op == of.op); };
      now = may_lead(a) ? a : may_lead(b) && of.op != Op::sub ? b : nullptr;
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
};

}  // namespace

std::vector<Reduction> reductions_of(const ir::Function& function, ir::BlockId loop) {
  return ReductionFinder(function, loop).run();
}

}  // namespace eum::jit
