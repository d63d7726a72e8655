#include "jit/codegen/row_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "jit/codegen/constant_sum.hpp"

namespace eum::jit::codegen {
namespace {

using ir::Op;
using ir::ValueId;

struct Candidate {
  std::uint32_t inst;
  ConstantSum begin;  ///< of the first lane, or the addresses of all
};

/// What the accesses of a group have in common: op, address space, surface, bytes added to addresses, type,
/// lanes, bytes from lane to lane, base, and the number of the stretch in which they may be exchanged.
using Key = std::tuple<Op, ir::MemSpace, unsigned, std::uint32_t, ir::Type, unsigned, std::int32_t, ValueId,
                       std::uint32_t>;

class Finder {
 public:
  Finder(const ir::Function& function, std::span<const CodeInst> insts)
      : function_(function), insts_(insts) {}

  std::vector<std::vector<std::uint32_t>> find(std::span<const std::uint32_t> candidates) {
    for (const std::uint32_t i : candidates)
      if (insts_[i].op == Op::store) most_parts_ = std::max(most_parts_, parts_of(insts_[i]));
    if (most_parts_ == 1) return {};
    std::map<Key, std::vector<Candidate>> alike;
    auto next = candidates.begin();
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      const CodeInst& inst = insts_[i];
      note(inst);
      load_stretch_ += may_write(inst);
      store_stretch_ += may_observe(inst);
      const bool is_candidate = next != candidates.end() && *next == i;
      if (is_candidate) ++next;
      std::optional<ConstantSum> begin;
      if (is_candidate && parts_of(inst) > 1) begin = begin_of(inst);
      if (begin) alike[key_of(inst, *begin)].push_back({i, *begin});
      if (inst.op == Op::store) stores_.push_back({i, begin});
    }
    std::vector<std::vector<std::uint32_t>> groups;
    for (auto& [key, members] : alike) group(members, groups);
    return groups;
  }

 private:
  struct Store {
    std::uint32_t inst;
    std::optional<ConstantSum> begin;  ///< if it may be one of a group
  };

  static bool leaves_memory(const CodeInst& inst) {
    switch (ir::info(inst.op).effect) {
      case ir::Effect::Pure:
      case ir::Effect::ReadsState:
        return true;
      default:
        return inst.op == Op::reg_write || inst.op == Op::flag_write;
    }
  }
  static bool may_write(const CodeInst& inst) { return inst.op != Op::load && !leaves_memory(inst); }
  /// Whether it may read what has been stored, or fault: then what comes before must have been stored.
  /// are_together() sees to other stores.
  static bool may_observe(const CodeInst& inst) {
    return inst.op != Op::store && (!leaves_memory(inst) || ir::may_leave(inst.op));
  }

  void note(const CodeInst& inst) {
    if (inst.op == Op::constant || inst.op == Op::add) definitions_[inst.result] = &inst;
    if (inst.op == Op::reg_read) note_read(inst);
    if (inst.op == Op::reg_write) settle(inst);
    if (inst.op == Op::reg_scatter) reads_.clear();
  }
  /// Reads of the same register are the same base.
  void note_read(const CodeInst& inst) {
    const auto same = std::ranges::find_if(reads_, [&](const CodeInst* read) {
      return read->region == inst.region && read->lanes == inst.lanes &&
             ir::size_of(read->type) == ir::size_of(inst.type);
    });
    if (same == reads_.end())
      reads_.push_back(&inst);
    else
      first_reads_[inst.result] = (*same)->result;
  }
  void settle(const CodeInst& write) {
    constexpr unsigned granule = 4;
    const SlotRange range = slots_of(write, granule);
    std::erase_if(reads_, [&](const CodeInst* read) { return overlap(range, slots_of(*read, granule)); });
  }
  const CodeInst* definition(ValueId value) const {
    const auto found = definitions_.find(value);
    return found != definitions_.end() ? found->second : nullptr;
  }
  ConstantSum begin_of(const CodeInst& inst) const {
    ConstantSum sum = constant_sum(
        inst.args[function_.access(inst).address_operand()], [&](ValueId of) { return definition(of); },
        [&](ValueId of) -> std::optional<std::uint32_t> {
          const CodeInst* by = definition(of);
          if (by == nullptr || by->op != Op::constant) return std::nullopt;
          return static_cast<std::uint32_t>(by->imm);
        });
    if (const auto read = first_reads_.find(sum.base); read != first_reads_.end()) sum.base = read->second;
    return sum;
  }
  /// How many accesses a row may have, or 1. Lanes of loads at arbitrary addresses may have rows like those
  /// of the stores.
  unsigned parts_of(const CodeInst& inst) const {
    if (inst.runs == 0 && inst.op == Op::load) return most_parts_;
    const auto stride = static_cast<unsigned>(inst.linear.stride);
    const bool is_run = inst.runs == 1 && inst.linear.run >= inst.lanes && inst.linear.within == ~0u;
    const bool fits = stride % SharedRows::bytes == 0 && stride / SharedRows::bytes <= SharedRows::most;
    return is_run && fits ? std::max(1u, stride / SharedRows::bytes) : 1;
  }
  Key key_of(const CodeInst& inst, const ConstantSum& begin) const {
    const ir::MemoryAccess& access = function_.access(inst);
    const std::uint32_t stretch = inst.op == Op::load ? load_stretch_ : store_stretch_;
    return {inst.op,    access.space,       access.surface, access.offset, inst.type,
            inst.lanes, inst.linear.stride, begin.base,     stretch};
  }

  /// Divides accesses that are alike into groups of neighbours.
  void group(std::vector<Candidate>& members, std::vector<std::vector<std::uint32_t>>& groups) const {
    std::ranges::stable_sort(
        members, {}, [](const Candidate& one) { return static_cast<std::int32_t>(one.begin.constant); });
    const std::size_t parts = parts_of(insts_[members[0].inst]);
    for (std::size_t first = 0; first + parts <= members.size();) {
      const auto follows = [&](std::size_t k) {
        return members[first + k].begin.constant == members[first].begin.constant + k * SharedRows::bytes;
      };
      std::size_t count = 1;
      while (count < parts && follows(count)) ++count;
      std::vector<std::uint32_t> found;
      for (std::size_t k = 0; k < count; ++k) found.push_back(members[first + k].inst);
      if (count == parts && are_together(found)) groups.push_back(std::move(found));
      first += count;
    }
  }

  /// Whether no other store between those of a group accesses the same memory.
  bool are_together(const std::vector<std::uint32_t>& group) const {
    const CodeInst& one = insts_[group[0]];
    if (one.op == Op::load) return true;
    const std::uint32_t first = std::ranges::min(group), last = std::ranges::max(group);
    const ConstantSum begin = *std::ranges::find(stores_, group[0], &Store::inst)->begin;
    const std::uint32_t bytes = one.lanes * static_cast<std::uint32_t>(one.linear.stride);
    return std::ranges::all_of(stores_, [&](const Store& other) {
      if (other.inst <= first || other.inst >= last || std::ranges::find(group, other.inst) != group.end())
        return true;
      const CodeInst& inst = insts_[other.inst];
      const ir::MemoryAccess &a = function_.access(one), &b = function_.access(inst);
      if (!other.begin || other.begin->base != begin.base || a.space != b.space || a.surface != b.surface ||
          a.offset != b.offset)
        return false;
      const std::uint32_t apart = other.begin->constant - begin.constant;
      const std::uint32_t other_bytes =
          (inst.lanes - 1u) * static_cast<std::uint32_t>(inst.linear.stride) + SharedRows::bytes;
      return apart >= bytes && 0 - apart >= other_bytes;
    });
  }

  const ir::Function& function_;
  std::span<const CodeInst> insts_;
  std::unordered_map<ValueId, const CodeInst*> definitions_;  ///< sums and constants
  std::unordered_map<ValueId, ValueId> first_reads_;          ///< of what reads the same again
  std::vector<const CodeInst*> reads_;  ///< behind which the register has not been written
  std::vector<Store> stores_;
  unsigned most_parts_ = 1;          ///< of the stores
  std::uint32_t load_stretch_ = 0;   ///< how often memory may have been written
  std::uint32_t store_stretch_ = 0;  ///< how often it may have been read
};

}  // namespace

RowGroups::RowGroups(const ir::Function& function, std::span<const CodeInst> insts,
                     std::span<const std::uint32_t> candidates)
    : groups_(Finder(function, insts).find(candidates)) {
  for (std::uint32_t group = 0; group < groups_.size(); ++group)
    for (unsigned part = 0; part < groups_[group].size(); ++part)
      members_[groups_[group][part]] = {group, part};
}

}  // namespace eum::jit::codegen
