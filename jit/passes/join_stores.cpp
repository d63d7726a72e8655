// Stores to the same places under several masks, as of
//   if (a[i] > limit) o[i] = 255; else o[i] = 0;
// become one, where the last of them is, of what is in each lane afterwards. Lanes have to go to different
// places, as of two that go to the same one that of the last store wins, whatever its number; and between
// the stores are those of the other half of the channels, as GEN's instructions have 16 lanes at most. Local
// ids that increase by one tell both.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "jit/analysis/linear.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/mask_tables.hpp"
#include "jit/analysis/surface_order.hpp"
#include "jit/analysis/unseen_sets.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class StoreJoiner {
 public:
  explicit StoreJoiner(Function& function, bool addresses_tell = false)
      : function_(function), addresses_tell_(addresses_tell), out_(function) {}

  void run(Block& block) {
    out_.clear();
    open_.clear();
    dropped_.clear();
    for (const Inst& inst : block.insts) {
      if (inst.op == Op::store && function_.access(inst).is_fixed_surface()) {
        store(inst);
      } else {
        settle(inst);
        out_.keep(inst);
      }
    }
    if (dropped_.empty()) return;
    // Strips follow a thread only where its channels are the same.
    const auto unseen = unseen_sets(function_, out_.insts(), std::vector<bool>(function_.mask_variables));
    dropped_.insert(dropped_.end(), unseen.begin(), unseen.end());
    std::ranges::sort(dropped_);
    block.insts.clear();
    for (std::uint32_t i = 0; i < out_.insts().size(); ++i)
      if (!std::ranges::binary_search(dropped_, i)) block.insts.push_back(out_.insts()[i]);
  }

 private:
  const Inst& inst(std::uint32_t index) const { return out_.insts()[index]; }

  /// Closes stores that cannot become later than this instruction.
  void settle(const Inst& inst) {
    const SurfaceOrder order = SurfaceOrder::of(function_, inst);
    if (order.is_barrier || order.may_leave) open_.clear();
    for (const auto surface : {order.reads, order.writes})
      if (surface)
        std::erase_if(open_, [&](std::uint32_t index) {
          return surface_of(index) == *surface && !is_of_others(inst, this->inst(index));
        });
  }
  /// Whether a load, of the places of some store, is not of what this one stores: of other places, or of
  /// channels that do not store.
  bool is_of_others(const Inst& load, const Inst& store) {
    if (!addresses_tell_ || load.op != Op::load) return false;
    const ValueId from = function_.arg(load, 0);
    if (from == function_.arg(store, 0)) return exclude_each_other(load.mask, store.mask);
    return std::ranges::any_of(open_,
                               [&](std::uint32_t index) { return function_.arg(inst(index), 0) == from; });
  }
  /// Whether no lane of two masks is in both.
  bool exclude_each_other(ValueId a, ValueId b) {
    if (a == no_value || b == no_value) return false;
    tables_.begin();
    const auto table = [&](ValueId mask) {
      return tables_.of(function_, mask, 0, function_.values[mask].lanes,
                        [&](ValueId value) { return out_.definition(value); });
    };
    const auto one = table(a), other = table(b);
    return one && other && (*one & *other) == 0;
  }
  std::uint8_t surface_of(std::uint32_t index) const { return function_.access(inst(index)).surface; }

  void store(const Inst& last) {
    Inst whole = last;
    if (const auto before = find_before(last)) {
      const std::uint32_t first = open_[*before];
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(*before));
      dropped_.push_back(first);
      whole = joined(Inst(inst(first)), last);  // of a copy, as it appends
    }
    if (open_.size() == most_open) open_.erase(open_.begin());
    open_.push_back(static_cast<std::uint32_t>(out_.insts().size()));
    out_.keep(whole);
  }
  /// The latest store, by its index in open_, that can be done together with this one.
  std::optional<std::size_t> find_before(const Inst& last) {
    for (std::size_t k = open_.size(); k-- > 0;) {
      const Inst& first = inst(open_[k]);
      if (!are_alike(first, last)) continue;
      const auto allows = [&](std::uint32_t between) {
        return surface_of(between) != surface_of(open_[k]) || are_apart(first, inst(between));
      };
      const auto behind = open_.begin() + static_cast<std::ptrdiff_t>(k) + 1;
      return std::all_of(behind, open_.end(), allows) ? std::optional(k) : std::nullopt;
    }
    return std::nullopt;
  }

  /// Where a store goes: lanes are `stride` bytes apart, and no two have a byte in common.
  struct Places {
    SymbolicSum first;
    std::uint32_t stride = 0, bytes = 0;  ///< from one lane to the next; from the first to behind the last
    bool operator==(const Places&) const = default;
  };
  std::optional<Places> places_of(const Inst& store) {
    const MemoryAccess& access = function_.access(store);
    if (function_.ids.run == 0 || access.offset != 0) return std::nullopt;
    if (!linear_) linear_.emplace(function_, Liveness(function_, function_.slot_bytes, false), false);
    const Ramp ramp = linear_->ramp(function_.arg(store, 0), false);
    const unsigned each = size_of(store.type) * (access.component(access.component_count() - 1) + 1);
    if (ramp.first.symbol == no_symbol || ramp.stride < each || ramp.stride > most_stride)
      return std::nullopt;
    return Places{ramp.first, ramp.stride, (store.lanes - 1u) * ramp.stride + each};
  }
  /// Whether two stores are to the same places, lane by lane. Most stores of a surface are those of both
  /// halves, or under the same mask.
  bool are_alike(const Inst& a, const Inst& b) {
    if (a.type != b.type || a.lanes != b.lanes || a.arg_count != b.arg_count || a.mask == b.mask ||
        function_.access(a) != function_.access(b))
      return false;
    if (addresses_tell_) return function_.arg(a, 0) == function_.arg(b, 0);
    if (first_channel(a) != first_channel(b)) return false;
    const auto one = places_of(a);
    return one && one == places_of(b);
  }
  std::uint64_t first_channel(const Inst& store) const {
    const Inst* const made = store.mask == no_value ? nullptr : out_.definition(store.mask);
    return made && made->op == Op::slice ? made->imm : 0;
  }
  /// Whether two stores to a surface have no byte in common, whichever channels are active.
  bool are_apart(const Inst& a, const Inst& b) {
    if (addresses_tell_) return function_.arg(a, 0) != function_.arg(b, 0);
    const auto one = places_of(a), other = places_of(b);
    return one && other && one->first.symbol == other->first.symbol &&
           other->first.offset - one->first.offset >= one->bytes &&
           one->first.offset - other->first.offset >= other->bytes;
  }

  /// What two stores do, one after the other.
  Inst joined(const Inst& first, const Inst& last) {
    Inst whole = last;
    if (last.mask == no_value) return whole;
    const Choice choice = choice_of(first.mask, last.mask, last.guest_ip);
    std::vector<ValueId> args{function_.arg(last, 0)};
    args.reserve(last.arg_count);
    for (unsigned k = 1; k < last.arg_count; ++k) {
      ValueId old = function_.arg(first, k), now = function_.arg(last, k);
      if (choice.of_first) std::swap(old, now);
      args.push_back(chosen(choice.mask, now, old, last.guest_ip));
    }
    function_.set_args(whole, args);
    whole.mask = choice.channels;
    return whole;
  }
  /// Of bytes and words that were cut from dwords, the dwords are chosen, as masks are mostly of those.
  ValueId chosen(ValueId mask, ValueId set, ValueId clear, std::uint32_t guest_ip) {
    if (set == clear) return set;
    const auto [type, lanes] = function_.values[set];
    const Inst *one = out_.definition(set), *other = out_.definition(clear);
    if (one && other && one->op == Op::convert && other->op == Op::convert && one->from == other->from) {
      const ValueId whole = chosen(mask, function_.arg(*one, 0), function_.arg(*other, 0), guest_ip);
      return out_.converted(Op::convert, type, whole, guest_ip);
    }
    const Inst select = make_op(Op::select, type, lanes, guest_ip);
    const ValueId if_set = cut(set, guest_ip), if_clear = cut(clear, guest_ip);
    return out_.append(select, {mask, if_set, if_clear});
  }
  /// Converted, if it is a constant that is cut to fewer bits.
  ValueId cut(ValueId value, std::uint32_t guest_ip) {
    const Inst* const convert = out_.definition(value);
    if (!convert || convert->op != Op::convert || !is_int(convert->type) || !is_int(convert->from) ||
        size_of(convert->type) >= size_of(convert->from))
      return value;
    const Inst* const from = out_.definition(function_.arg(*convert, 0));
    if (!from || from->op != Op::constant) return value;
    const std::uint64_t bits = from->imm & (~std::uint64_t{} >> (64 - 8 * size_of(convert->type)));
    return out_.constant(convert->type, convert->lanes, bits, guest_ip);
  }

  struct Choice {
    ValueId channels = no_value;  ///< in which one of the two stores; no value: all
    ValueId mask = no_value;      ///< tells which one
    bool of_first = false;        ///< it is set in those in which the first one stores
  };
  Choice choice_of(ValueId first, ValueId last, std::uint32_t guest_ip) {
    if (first == no_value) return {no_value, last};
    if (const auto both = branches(first, last, guest_ip)) return *both;
    return {either(first, last, guest_ip), last};
  }
  /// Channels of one mask or the other.
  ValueId either(ValueId a, ValueId b, std::uint32_t guest_ip) {
    if (a == no_value || b == no_value) return no_value;
    if (const auto both = branches(a, b, guest_ip)) return both->channels;
    // Of several branches the last two are an inner if and its else.
    if (const Inst* const sum = out_.definition(a); sum && sum->op == Op::or_) {
      const std::array parts{function_.arg(*sum, 0), function_.arg(*sum, 1)};
      for (const unsigned k : {0u, 1u})
        if (const auto inner = branches(parts[k], b, guest_ip))
          return either(parts[1 - k], inner->channels, guest_ip);
    }
    return out_.append(make_op(Op::or_, Type::m, function_.values[a].lanes, guest_ip), {a, b});
  }
  /// If one mask consists of the channels that fulfil a condition, the other of those that do not; or if both
  /// are the same lanes of such masks.
  std::optional<Choice> branches(ValueId first, ValueId last, std::uint32_t guest_ip) {
    const Inst *const one = out_.definition(first), *const other = out_.definition(last);
    if (!one || !other) return std::nullopt;
    if (one->op != Op::slice || other->op != Op::slice || one->imm != other->imm)
      return branches(*one, *other);
    Inst part = make_op(Op::slice, Type::m, one->lanes, guest_ip);
    part.imm = one->imm;
    auto both = branches(function_.arg(*one, 0), function_.arg(*other, 0), guest_ip);
    if (both) {
      if (both->channels != no_value) both->channels = out_.append(part, {both->channels});
      both->mask = out_.append(part, {both->mask});
    }
    return both;
  }
  std::optional<Choice> branches(const Inst& first, const Inst& last) const {
    if (last.op == Op::not_ && function_.arg(last, 0) == first.result)
      return Choice{no_value, first.result, true};
    if (first.op == Op::not_ && function_.arg(first, 0) == last.result) return Choice{no_value, last.result};
    const bool of_first = last.op == Op::andn;
    const Inst &with = of_first ? first : last, &without = of_first ? last : first;
    if (with.op != Op::and_ || without.op != Op::andn) return std::nullopt;
    const ValueId condition = function_.arg(without, 0), channels = function_.arg(without, 1);
    for (const unsigned k : {0u, 1u})
      if (function_.arg(with, k) == condition && function_.arg(with, 1 - k) == channels) {
        const Inst* const made = out_.definition(condition);
        if (made && made->op == Op::not_) return Choice{channels, function_.arg(*made, 0), !of_first};
        return Choice{channels, condition, of_first};
      }
    return std::nullopt;
  }

  static constexpr std::uint32_t most_stride = 1 << 16;
  static constexpr std::size_t most_open = 16;

  Function& function_;
  const bool addresses_tell_;  // where stores go: to the same places only if they are equal
  NewBlock out_;
  MaskTables tables_;
  std::optional<LinearUses> linear_;    ///< of the function before it changed; when first needed
  std::vector<std::uint32_t> open_;     ///< stores that may become later, by their places in the new block
  std::vector<std::uint32_t> dropped_;  ///< those that have become part of others
};

}  // namespace

void join_stores(Function& function) {
  if (!function.disjoint_surfaces) return;
  run_on_blocks_with<StoreJoiner>(
      function, [](const Inst& inst) { return inst.op == Op::store && inst.mask != no_value; });
}

void join_stores(Function& function, BlockId block) {
  StoreJoiner(function, true).run(function.blocks[block]);
}

}  // namespace eum::jit
