// Computations with many more values than the host has registers are split into parts of a register each. A
// GEN instruction works on up to two registers, or four for 64 bits, and each value of a formula takes as
// many; a host has sixteen, and may compute lanes in any order. Code generation can then emit one part after
// the other (jit/codegen/schedule.hpp): rounds of ciphers then need no spills.
//
// A computation consists of lanewise ops of the same lanes that are connected. Addresses stay whole, as
// accesses depend on what is known of all their lanes, and so do comparisons for branches. At the edges there
// are slices and concats, which cost nothing if parts are whole registers.
//
// Spills cost a host almost nothing as long as they are few, and other parts keep it busy while one waits for
// its own results. So splitting pays only for computations with many values and independent ops (an EPYC of
// Zen 4, CPU time of perf_compare): 0.77 for chacha20 and sha256, which have 18 and 60 registers too few at
// the average op and nine ops for each step of the longest chain; 1.07 for arx, with 6 too few; and 1.06 for
// formulas of one or two chains, as in bs and math_power.
#include <algorithm>
#include <array>
#include <vector>

#include "jit/analysis/disjoint_sets.hpp"
#include "jit/analysis/latency.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {

using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::Shape;
using ir::ValueId;

namespace {

/// Vector registers of the host that has the fewest.
constexpr unsigned host_registers = 16;
/// To split a computation: how many registers are too few at the average op.
constexpr unsigned least_excess = 8;
/// And how many ops there are per cycle of the longest chain.
constexpr unsigned least_parallel = 3;
constexpr unsigned most_parts = 8;

class SplitLanes {
 public:
  explicit SplitLanes(ir::Function& function)
      : function_(function),
        definitions_(function.values.size()),
        marks_(function.values.size()),
        out_(function) {}

  void run() {
    for (ir::Block& block : function_.blocks) {
      ++block_;
      if (block.insts.size() <= host_registers || !find_members(block)) continue;
      connect(block);
      if (measure(block)) split(block);
    }
  }

 private:
  /// Where a value is defined.
  struct Definition {
    std::uint32_t block = 0, inst = 0;
  };
  struct Marks {
    std::uint32_t address = 0, chooses = 0,
                  used = 0;  ///< blocks in which it is an address, a select's mask, used
  };
  /// What block `block` has of a value: the parts, the value itself, or both.
  struct Parts {
    std::uint32_t block = 0;
    std::uint8_t lanes = 0, count = 0;
    bool whole = true;
    std::array<ValueId, most_parts> values{};
  };
  struct Computation {
    unsigned registers = 0;      ///< that its values take, at the current op
    unsigned ops = 0;            ///< their number
    std::uint64_t excess = 0;    ///< sum over the ops of the registers that are too few
    unsigned path = 0;           ///< cycles of the longest chain of ops
    unsigned element_bytes = 0;  ///< of the widest elements
    bool splits() const {
      return ops != 0 && excess >= std::uint64_t{ops} * least_excess && ops >= path * least_parallel;
    }
  };

  /// Bytes of the widest elements on which the instruction works.
  static unsigned element_bytes(const Inst& inst) {
    const unsigned bytes = ir::size_of(inst.type);
    return ir::shape_of(inst.op).has_from() ? std::max(bytes, unsigned{ir::size_of(inst.from)}) : bytes;
  }
  unsigned bytes(ValueId value) const {
    const ir::ValueInfo& info = function_.values[value];
    // A mask takes as much as the compared values, mostly elements of 32 bits.
    return info.lanes * (ir::is_mask(info.type) ? 4u : ir::size_of(info.type));
  }
  unsigned registers(ValueId value) const {
    return (bytes(value) + function_.slot_bytes - 1) / function_.slot_bytes;
  }

  bool find_members(const ir::Block& block);
  bool may_split(const Inst& inst) const;
  void connect(const ir::Block& block);
  bool measure(const ir::Block& block);
  Computation& computation(std::uint32_t inst) { return computations_[sets_.first(inst)]; }
  const Inst* member(const ir::Block& block, ValueId value) const;

  void split(ir::Block& block);
  unsigned part_lanes(std::uint32_t index, const Inst& inst);
  void split(const ir::Block& block, const Inst& inst, unsigned lanes);
  void find_parts(const ir::Block& block, ValueId value, unsigned lanes);
  void make_whole(ValueId value);

  ir::Function& function_;
  std::uint32_t block_ = 0;  // counts blocks
  std::vector<Definition> definitions_;
  std::vector<Marks> marks_;
  std::vector<std::uint8_t> is_member_;    // of each instruction
  DisjointSets sets_;                      // of instructions: the computations
  std::vector<unsigned> cycles_;           // of each member: until its result is there
  std::vector<Computation> computations_;  // by their first instructions
  std::vector<Parts> parts_;               // of the values that existed at first, once something is split
  NewBlock out_;                           // the new block
  std::uint32_t guest_ip_ = 0;
};

/// Whether it is wider than a register, and each part of it is computed from parts of the same lanes.
bool SplitLanes::may_split(const Inst& inst) const {
  if (inst.op == Op::reg_read)
    return bytes(inst.result) > function_.slot_bytes && inst.region.stride(inst.lanes) == 1 &&
           inst.region.offset % function_.slot_bytes == 0 && bytes(inst.result) % function_.slot_bytes == 0;
  if (!ir::is_pure(inst.op) || !ir::shape_of(inst.op).lanewise() || ir::is_mask(inst.type)) return false;
  if (ir::info(inst.op).backend != ir::Backend::Native) return false;
  if (inst.lanes * element_bytes(inst) <= function_.slot_bytes) return false;
  return ir::info(inst.op).shape != Shape::Compare || marks_[inst.result].chooses == block_;
}

bool SplitLanes::find_members(const ir::Block& block) {
  const auto& insts = block.insts;
  is_member_.assign(insts.size(), 0);
  unsigned members = 0;
  for (std::size_t i = insts.size(); i-- > 0;) {
    const Inst& inst = insts[i];
    const auto args = function_.args(inst);
    bool address = false;
    for (unsigned k = 0; k < inst.result_count; ++k) {
      definitions_[inst.result + k] = {block_, static_cast<std::uint32_t>(i)};
      address |= marks_[inst.result + k].address == block_;
    }
    const ir::ShapeInfo& shape = ir::shape_of(inst.op);
    if (shape.has_memory() || shape.has_image() || inst.op == Op::reg_gather || inst.op == Op::reg_scatter) {
      const std::size_t addresses =
          shape.has_memory() ? (function_.access(inst).surface_is_operand ? 2 : 1) : args.size();
      for (std::size_t k = 0; k < addresses; ++k) marks_[args[k]].address = block_;
    } else if (address && ir::is_pure(inst.op)) {
      for (ValueId arg : args) marks_[arg].address = block_;
    }
    if (address || !may_split(inst)) continue;
    if (inst.op == Op::select) marks_[args[0]].chooses = block_;
    is_member_[i] = 1;
    ++members;
  }
  return members > host_registers;
}

/// The member that defines the value.
const Inst* SplitLanes::member(const ir::Block& block, ValueId value) const {
  const Definition& definition = definitions_[value];
  if (definition.block != block_ || is_member_[definition.inst] == 0) return nullptr;
  return &block.insts[definition.inst];
}

void SplitLanes::connect(const ir::Block& block) {
  sets_.reset(block.insts.size());
  cycles_.resize(block.insts.size());
  for (std::uint32_t i = 0; i < block.insts.size(); ++i) {
    if (is_member_[i] == 0) continue;
    cycles_[i] = 0;
    for (ValueId arg : function_.args(block.insts[i])) {
      if (!member(block, arg)) continue;
      const std::uint32_t definition = definitions_[arg].inst;
      cycles_[i] = std::max(cycles_[i], cycles_[definition]);
      sets_.join(definition, i);
    }
    cycles_[i] += latency(block.insts[i]);
  }
}

/// False: no computation is worth splitting.
bool SplitLanes::measure(const ir::Block& block) {
  computations_.assign(block.insts.size(), {});
  const auto use = [&](ValueId value) {
    if (marks_[value].used == block_ || !member(block, value)) return;
    marks_[value].used = block_;
    computation(definitions_[value].inst).registers += registers(value);
  };
  for (auto i = static_cast<std::uint32_t>(block.insts.size()); i-- > 0;) {
    const Inst& inst = block.insts[i];
    if (is_member_[i] != 0) {
      Computation& its = computation(i);
      its.path = std::max(its.path, cycles_[i]);
      its.element_bytes = std::max(its.element_bytes, element_bytes(inst));
      if (inst.op != Op::reg_read) {
        ++its.ops;
        if (its.registers > host_registers) its.excess += its.registers - host_registers;
      }
      for (unsigned k = 0; k < inst.result_count; ++k)
        if (marks_[inst.result + k].used == block_) its.registers -= registers(inst.result + k);
    }
    for (ValueId arg : function_.args(inst)) use(arg);
    if (inst.mask != no_value) use(inst.mask);
  }
  return std::ranges::any_of(computations_, &Computation::splits);
}

void SplitLanes::split(ir::Block& block) {
  if (parts_.empty()) parts_.resize(definitions_.size());
  out_.clear();
  for (std::uint32_t i = 0; i < block.insts.size(); ++i) {
    const Inst& inst = block.insts[i];
    guest_ip_ = inst.guest_ip;
    if (const unsigned lanes = part_lanes(i, inst); lanes != 0) {
      split(block, inst, lanes);
      continue;
    }
    // By index, as operands move.
    for (unsigned k = 0; k < inst.arg_count; ++k) make_whole(function_.arg(inst, k));
    if (inst.mask != no_value) make_whole(inst.mask);
    out_.keep(inst);
  }
  out_.replace(block);
}

/// Lanes of each part of a member, or 0 if it stays whole.
unsigned SplitLanes::part_lanes(std::uint32_t index, const Inst& inst) {
  if (is_member_[index] == 0) return 0;
  const Computation& its = computation(index);
  if (!its.splits()) return 0;
  const unsigned lanes = function_.slot_bytes / its.element_bytes;
  const auto fills_registers = [&](ir::Type type) {
    return lanes * ir::size_of(type) == function_.slot_bytes;
  };
  // Parts of less than a register cost instructions to take apart and put together.
  if (!fills_registers(inst.type) || (ir::shape_of(inst.op).has_from() && !fills_registers(inst.from)))
    return 0;
  return inst.lanes % lanes == 0 && inst.lanes / lanes <= most_parts ? lanes : 0;
}

void SplitLanes::split(const ir::Block& block, const Inst& inst, unsigned lanes) {
  const unsigned count = inst.lanes / lanes;
  for (unsigned k = 0; k < inst.arg_count; ++k) find_parts(block, function_.arg(inst, k), lanes);
  if (inst.mask != no_value) find_parts(block, inst.mask, lanes);
  for (unsigned part = 0; part < count; ++part) {
    Inst one = inst;
    one.lanes = static_cast<std::uint8_t>(lanes);
    std::array<ValueId, ir::max_pure_operands> args{};
    for (unsigned k = 0; k < inst.arg_count; ++k) args[k] = parts_[function_.arg(inst, k)].values[part];
    function_.set_args(one, std::span(args).first(inst.arg_count));
    if (inst.mask != no_value) one.mask = parts_[inst.mask].values[part];
    if (inst.op == Op::reg_read) one.region.offset += part * lanes * ir::size_of(inst.type);
    for (unsigned k = 0; k < inst.result_count; ++k) {
      const ValueId value = function_.add_value(function_.values[inst.result + k].type, lanes);
      if (k == 0) one.result = value;
      Parts& its = parts_[inst.result + k];
      if (part == 0)
        its = {block_, static_cast<std::uint8_t>(lanes), static_cast<std::uint8_t>(count), false, {}};
      its.values[part] = value;
    }
    out_.keep(one);
  }
}

/// Makes parts of so many lanes of the value.
void SplitLanes::find_parts(const ir::Block& block, ValueId value, unsigned lanes) {
  Parts& its = parts_[value];
  if (its.block == block_ && its.lanes == lanes) return;
  make_whole(value);
  const ir::ValueInfo info = function_.values[value];
  its = {block_, static_cast<std::uint8_t>(lanes), static_cast<std::uint8_t>(info.lanes / lanes), true, {}};
  const Inst& definition = block.insts[definitions_[value].inst];
  if (!ir::is_mask(info.type) && (definition.op == Op::constant || definition.op == Op::splat)) {
    // The same in every lane, and so in every part.
    Inst one = definition;
    one.lanes = static_cast<std::uint8_t>(lanes);
    one.result = function_.add_value(info.type, lanes);
    its.values.fill(one.result);
    return out_.keep(one);
  }
  for (unsigned part = 0; part < its.count; ++part) {
    Inst slice = make_op(Op::slice, info.type, lanes, guest_ip_);
    slice.imm = part * lanes;
    its.values[part] = out_.append(slice, {value});
  }
}

/// Makes the value whole, under its old number.
void SplitLanes::make_whole(ValueId value) {
  Parts& its = parts_[value];
  if (its.block != block_ || its.whole) return;
  its.whole = true;
  const ir::Type type = function_.values[value].type;
  ValueId sum = its.values[0];
  for (unsigned part = 1; part < its.count; ++part)
    sum = out_.append(make_op(Op::concat, type, (part + 1) * its.lanes, guest_ip_), {sum, its.values[part]});
  out_.let_last_define(value);
}

}  // namespace

void split_lanes(ir::Function& function) { SplitLanes(function).run(); }

}  // namespace eum::jit
