// Arrays of a work item that are indexed by data are kept in registers. Compilers write to them channel by
// channel, with one selective move each, as the hardware writes to a single place given by an address
// register:
//   smov r[a0.0] r9.0 0x1, smov r[a0.1] r9.1 0x2, ...
// Each takes a branch, an address and a bounds check. Together they are one reg_scatter, whose lanes count as
// separate instructions: that matters if one writes what another one reads, or faults.
#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class ScatterJoiner {
 public:
  /// `lone`: those of lone_scatters, between which flags may be written that nothing reads before the last
  /// one.
  ScatterJoiner(Function& function, bool lone) : function_(function), lone_(lone) {}

  void run() {
    for (BlockId block = 0; block < function_.blocks.size(); ++block) run(block);
  }

 private:
  void run(BlockId id) {
    if (std::ranges::count_if(function_.blocks[id].insts, is_one) < std::ptrdiff_t{fewest}) return;
    block_ = id;
    given_by_.clear();
    run_.clear();
    wholes_.clear();
    reads_.clear();
    same_since_ = masks_since_ = 0;
    const auto& insts = function_.blocks[id].insts;
    for (std::uint32_t i = 0; i < insts.size(); ++i) {
      const Inst& inst = insts[i];
      for (unsigned k = 0; k < inst.result_count; ++k) given_by_[inst.result + k] = i;
      if (is_one(inst)) {
        take(i);
        reads_.clear();
      } else if (inst.op == Op::reg_read) {
        reads_.push_back(i);
      } else if (!is_pure(inst.op) && inst.op != Op::mask_get && !(lone_ && inst.op == Op::flag_write)) {
        end_run();
        same_since_ = i + 1;
        if (inst.op == Op::mask_set) masks_since_ = i + 1;
      }
    }
    end_run();
    if (!wholes_.empty()) replace();
  }

  static constexpr std::size_t fewest = 8;  ///< that are joined

  static bool is_one(const Inst& inst) { return inst.op == Op::reg_scatter && inst.lanes == 1; }

  /// One channel's: `address` bytes and `value` bytes of the register file, `mask_lane` of `mask`.
  struct Part {
    std::uint32_t index;
    Inst inst;
    std::uint32_t address, value;
    std::uint16_t distance;  ///< that is added to the address
    int mask_lane;           ///< -1: none
    ValueId mask;
  };

  const Inst* definition(ValueId value) const {
    const auto found = given_by_.find(value);
    return found == given_by_.end() ? nullptr : &function_.blocks[block_].insts[found->second];
  }
  /// A read of one element without a mask, after the previous scatter.
  const Inst* read(ValueId value) const {
    const Inst* inst = definition(value);
    if (inst == nullptr || inst->op != Op::reg_read || inst->lanes != 1 || inst->mask != no_value)
      return nullptr;
    return std::ranges::find(reads_, given_by_.at(value)) != reads_.end() ? inst : nullptr;
  }

  std::optional<Part> part(std::uint32_t index) const {
    const Inst& inst = function_.blocks[block_].insts[index];
    if (inst.own.given() || (!lone_ && inst.own.lane != 0)) return std::nullopt;
    Part part{index, inst, 0, 0, 0, -1, no_value};
    ValueId address = function_.arg(inst, 0);
    if (const Inst* sum = definition(address); sum != nullptr && sum->op == Op::add) {
      const Inst* distance = definition(function_.arg(*sum, 1));
      if (distance == nullptr || distance->op != Op::constant) return std::nullopt;
      part.distance = static_cast<std::uint16_t>(distance->imm);
      address = function_.arg(*sum, 0);
    }
    // Addresses must be outside of what scatters can write; values are read after the writes of earlier
    // scatters.
    const Inst *from = read(address), *what = read(function_.arg(inst, 1));
    if (from == nullptr || what == nullptr || from->region.offset < function_.indirect_end() ||
        what->type != inst.type)
      return std::nullopt;
    part.address = from->region.offset;
    part.value = what->region.offset;
    if (inst.mask == no_value) return part;
    // A lane of a mask, or of a half of it.
    part.mask = inst.mask;
    part.mask_lane = 0;
    const Inst* mask = definition(part.mask);
    for (; mask != nullptr && mask->op == Op::slice; mask = definition(part.mask)) {
      part.mask_lane += static_cast<int>(mask->imm);
      part.mask = function_.arg(*mask, 0);
    }
    return part;
  }

  /// Whether it is the current execution mask, which each instruction gets separately.
  bool is_current_mask(ValueId value) const {
    const Inst* get = definition(value);
    return get != nullptr && get->op == Op::mask_get && get->imm == 0 && given_by_.at(value) >= masks_since_;
  }
  bool is_same_mask(ValueId a, ValueId b) const {
    return a == b || (is_current_mask(a) && is_current_mask(b));
  }

  bool follows(const Part& next) const {
    const Part& last = run_.back();
    const bool first_step = run_.size() == 1;
    const std::uint32_t step = next.inst.guest_ip - last.inst.guest_ip, value_step = next.value - last.value;
    return next.inst.type == last.inst.type && next.address == last.address + 2 &&
           (value_step == 0 || value_step == size_of(next.inst.type)) &&
           (first_step || value_step == last.value - run_[run_.size() - 2].value) &&
           next.inst.own.lane == last.inst.own.lane + (lone_ ? 1 : 0) && is_same_mask(next.mask, last.mask) &&
           (last.mask_lane < 0 || next.mask_lane == last.mask_lane + 1) &&
           (first_step ? step <= UINT16_MAX
                       : step == last.inst.guest_ip - run_[run_.size() - 2].inst.guest_ip);
  }

  void take(std::uint32_t index) {
    // Other reads in between would see what is now written too early.
    std::erase_if(reads_, [&](std::uint32_t read) { return read < same_since_; });
    const std::optional<Part> next = part(index);
    if (!run_.empty() && (!next || run_.size() == max_lanes || reads_.size() != 2 || !follows(*next)))
      end_run();
    if (next) run_.push_back(*next);
  }

  void end_run() {
    while (run_.size() > fewest && !std::has_single_bit(run_.size())) run_.pop_back();
    if (run_.size() >= fewest) wholes_.push_back(run_);
    run_.clear();
  }

  void replace() {
    const std::vector<Inst> insts(function_.blocks[block_].insts.begin(),
                                  function_.blocks[block_].insts.end());
    function_.blocks[block_].insts.clear();
    Builder builder(function_);
    builder.set_block(block_);
    auto whole = wholes_.begin();
    std::size_t dropped = 0;
    for (std::uint32_t i = 0; i < insts.size(); ++i) {
      if (whole == wholes_.end() || i != (*whole)[dropped].index) {
        function_.blocks[block_].insts.push_back(insts[i]);
        continue;
      }
      if (dropped == 0) append(builder, *whole);
      if (++dropped == whole->size()) {
        dropped = 0;
        ++whole;
      }
    }
  }

  void append(Builder& builder, const std::vector<Part>& parts) {
    const Part& first = parts.front();
    const auto lanes = static_cast<unsigned>(parts.size());
    builder.set_guest_ip(first.inst.guest_ip);
    ValueId mask = no_value;
    if (first.mask_lane >= 0) mask = builder.slice(first.mask, static_cast<unsigned>(first.mask_lane), lanes);
    std::vector<std::uint64_t> distances;
    for (const Part& part : parts) distances.push_back(part.distance);
    const ValueId from = builder.reg_read(Type::u16, lanes, Region::packed(first.address), mask);
    const ValueId address = builder.lanewise(Op::add, {from, builder.vconst(Type::u16, lanes, distances)});
    const bool same = parts[1].value == first.value;
    const ValueId value =
        builder.reg_read(first.inst.type, lanes, Region::strided(first.value, same ? 0 : 1), mask);
    builder.reg_scatter(address, value, mask);
    Inst& inst = function_.blocks[block_].insts.back();
    inst.own.source = first.value;
    inst.own.ip_step = static_cast<std::uint16_t>(parts[1].inst.guest_ip - first.inst.guest_ip);
    inst.own.values = same ? OwnValues::Same : OwnValues::Each;
    inst.own.lane = first.inst.own.lane;
    inst.own.goes_up = lone_;
  }

  Function& function_;
  const bool lone_;
  BlockId block_ = 0;
  std::unordered_map<ValueId, std::uint32_t> given_by_;  // instructions of the block
  std::vector<std::uint32_t> reads_;                     // of registers, after the last scatter
  // No instruction but scatters has written registers since the one, and none masks since the other.
  std::uint32_t same_since_ = 0, masks_since_ = 0;
  std::vector<Part> run_;
  std::vector<std::vector<Part>> wholes_;
};

}  // namespace

void join_scatters(Function& function) { ScatterJoiner(function, false).run(); }
void join_lone_scatters(Function& function) { ScatterJoiner(function, true).run(); }

}  // namespace eum::jit
