#include "tests/jit/shrink.hpp"

#include <algorithm>

#include "frontend/ir/signature.hpp"
#include "frontend/ir/verifier.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {

using namespace ir;

namespace {

class Shrinker {
 public:
  Shrinker(const Function& function, const std::function<bool(const Function&)>& fails)
      : best_(copy(function)), fails_(fails) {}

  Function run() {
    for (bool progress = true; progress;) {
      progress = shrink_blocks();
      progress |= remove_ranges();
      progress |= simplify_each();
    }
    return copy(best_);
  }

 private:
  bool keep_if_failing(Function&& candidate) {
    if (!verify(candidate) || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  /// Reduces each block to an exit, or each branch to a jump or an exit.
  bool shrink_blocks() {
    bool progress = false;
    for (std::size_t block = 0; block < best_.blocks.size(); ++block) {
      Inst exit;
      exit.op = Op::exit;
      if (best_.blocks[block].insts.size() > 1 || best_.blocks[block].insts.back().op != Op::exit) {
        Function candidate = copy(best_);
        candidate.blocks[block].insts.assign(1, exit);
        progress |= keep_if_failing(std::move(candidate));
      }
      const Inst last = best_.blocks[block].insts.back();
      if (last.op == Op::exit) continue;
      Function candidate = copy(best_);
      candidate.blocks[block].insts.back() = exit;
      if (keep_if_failing(std::move(candidate))) {
        progress = true;
        continue;
      }
      if (last.op != Op::branch_any) continue;
      for (BlockId target : {last.targets.taken, last.targets.fallthrough}) {
        Function other = copy(best_);
        Inst& jump = other.blocks[block].insts.back();
        jump = exit;
        jump.op = Op::jump;
        jump.targets = {target, no_block};
        if (keep_if_failing(std::move(other))) {
          progress = true;
          break;
        }
      }
    }
    while (best_.blocks.size() > 1) {
      Function candidate = copy(best_);
      candidate.blocks.pop_back();
      if (!keep_if_failing(std::move(candidate))) break;
      progress = true;
    }
    return progress;
  }

  /// Removes the instructions [first, first + count) of a block, and then all that lost an operand.
  Function without(std::size_t block, std::size_t first, std::size_t count) const {
    Function candidate = copy(best_);
    auto& insts = candidate.blocks[block].insts;
    std::vector<bool> gone(candidate.values.size());
    std::size_t to = 0;
    for (std::size_t i = 0; i < insts.size(); ++i) {
      const Inst& inst = insts[i];
      bool drop = i >= first && i < first + count;
      for (unsigned k = 0; k < inst.arg_count; ++k) drop |= gone[best_.arg(inst, k)];
      if (inst.mask != no_value) drop |= gone[inst.mask];
      if (drop && !is_terminator(inst.op)) {
        for (unsigned k = 0; k < inst.result_count; ++k) gone[inst.result + k] = true;
      } else {
        insts[to++] = inst;
      }
    }
    insts.resize(to);
    return candidate;
  }

  bool remove_ranges() {
    bool progress = false;
    for (std::size_t block = 0; block < best_.blocks.size(); ++block) {
      for (std::size_t count = best_.blocks[block].insts.size() / 2; count > 0; count /= 2) {
        for (std::size_t end = best_.blocks[block].insts.size() - 1; end > 0;) {
          const std::size_t size = std::min(count, end);
          if (keep_if_failing(without(block, end - size, size))) {
            progress = true;
            end = std::min(end - size, best_.blocks[block].insts.size() - 1);
          } else {
            end -= size;
          }
        }
      }
    }
    return progress;
  }

  /// Removes masks, and replaces instructions by constants or by an operand of the same type.
  bool simplify_each() {
    bool progress = false;
    for (std::size_t block = 0; block < best_.blocks.size(); ++block) {
      for (std::size_t i = best_.blocks[block].insts.size(); i-- > 0;) {
        const Inst inst = best_.blocks[block].insts[i];
        if (inst.mask != no_value) {
          Function candidate = copy(best_);
          candidate.blocks[block].insts[i].mask = no_value;
          progress |= keep_if_failing(std::move(candidate));
        }
        if (inst.result_count != 1 || inst.op == Op::constant) continue;
        if (replace_by_operand(block, i)) {
          progress = true;
          continue;
        }
        for (std::uint64_t bits : {~std::uint64_t{0}, std::uint64_t{0}}) {
          if (inst.op == Op::reg_read || inst.op == Op::flag_read || inst.op == Op::mask_get) break;
          Function candidate = copy(best_);
          Inst& to = candidate.blocks[block].insts[i];
          const ValueInfo result = candidate.values[inst.result];
          to = Inst();
          to.op = Op::constant;
          to.type = result.type;
          to.lanes = result.lanes;
          to.imm = bits;
          to.result = inst.result;
          to.result_count = 1;
          to.guest_ip = inst.guest_ip;
          if (keep_if_failing(std::move(candidate))) {
            progress = true;
            break;
          }
        }
      }
    }
    return progress;
  }

  bool replace_by_operand(std::size_t block, std::size_t i) {
    const Inst inst = best_.blocks[block].insts[i];
    const ValueInfo result = best_.values[inst.result];
    for (unsigned k = 0; k < inst.arg_count; ++k) {
      const ValueId by = best_.arg(inst, k);
      const ValueInfo operand = best_.values[by];
      if (operand.type != result.type || operand.lanes != result.lanes) continue;
      Function candidate = copy(best_);
      auto& insts = candidate.blocks[block].insts;
      for (Inst& user : insts) {
        for (ValueId& arg : candidate.args(user))
          if (arg == inst.result) arg = by;
        if (user.mask == inst.result) user.mask = by;
      }
      insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(i));
      if (keep_if_failing(std::move(candidate))) return true;
    }
    return false;
  }

  Function best_;
  const std::function<bool(const Function&)>& fails_;
};

}  // namespace

Function shrink(const Function& function, const std::function<bool(const Function&)>& fails) {
  return Shrinker(function, fails).run();
}

}  // namespace eum::jit::test
