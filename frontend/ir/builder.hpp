#pragma once
// Appends micro-ops to a block of a function. The shape's rules determine the results; the methods below only
// name the attributes. Lowerings and tests use nothing else. Nothing is checked here: the verifier does that.
#include <initializer_list>
#include <span>

#include "frontend/ir/signature.hpp"

namespace eum::ir {

class Builder {
 public:
  explicit Builder(Function& function) : function_(function) {}

  Function& function() { return function_; }
  BlockId block() const { return block_; }
  void set_block(BlockId block) { block_ = block; }
  void set_guest_ip(std::uint32_t ip) { guest_ip_ = ip; }

  Type type_of(ValueId value) const { return function_.values[value].type; }
  unsigned lanes_of(ValueId value) const { return function_.values[value].lanes; }

  /// An instruction without operands or attribute, not yet in a block; complete it, then append() it.
  static Inst make(Op op, Type type = Type::u32, unsigned lanes = 1, ValueId mask = no_value) {
    Inst inst;
    inst.op = op;
    inst.type = type;
    inst.lanes = static_cast<std::uint8_t>(lanes);
    inst.mask = mask;
    return inst;
  }
  /// Appends `inst` with these operands and the results of its shape, the first of which is returned.
  ValueId append(Inst inst, std::span<const ValueId> args) {
    inst.guest_ip = guest_ip_;
    function_.set_args(inst, args);
    const Signature signature(function_, inst);
    return append_results(inst, signature, signature.max_results());
  }
  ValueId append(Inst inst, std::initializer_list<ValueId> args) {
    return append(inst, std::span(args.begin(), args.size()));
  }

  /// Every lane = the low bits of imm.
  ValueId constant(Type type, unsigned lanes, std::uint64_t imm) {
    return append_imm(make(Op::constant, type, lanes), imm);
  }
  ValueId vconst(Type type, unsigned lanes, std::span<const std::uint64_t> lane_values) {
    PoolEntry entry{};
    for (std::size_t i = 0; i < lane_values.size() && i < entry.size(); ++i) entry[i] = lane_values[i];
    function_.pool.push_back(entry);
    return append_imm(make(Op::vconst, type, lanes), function_.pool.size() - 1);
  }
  /// convert, convert_sat, bitcast. Returns the operand itself where nothing changes.
  ValueId convert(Op op, Type to, ValueId value) {
    Inst inst = make(op, to, lanes_of(value));
    inst.from = type_of(value);
    if (inst.from == to && (op != Op::convert_sat || !is_float(to))) return value;
    return append(inst, {value});
  }
  /// Ops with one or more operands of the op's type, which is that of the first operand.
  ValueId lanewise(Op op, std::initializer_list<ValueId> args) {
    return append(make(op, type_of(*args.begin()), lanes_of(*args.begin())), args);
  }
  ValueId compare(Op op, ValueId a, ValueId b) { return lanewise(op, {a, b}); }
  ValueId select(ValueId mask, ValueId a, ValueId b) {
    return append(make(Op::select, type_of(a), lanes_of(a)), {mask, a, b});
  }
  struct Pair {
    ValueId first, second;
  };
  /// Wide2 and Wide4.
  Pair wide(Op op, std::initializer_list<ValueId> args) {
    const ValueId first = lanewise(op, args);
    return {first, first + 1};
  }
  ValueId splat(ValueId scalar, unsigned lanes) {
    if (lanes == 1) return scalar;
    return append(make(Op::splat, type_of(scalar), lanes), {scalar});
  }
  /// Returns the value itself if all lanes are wanted; for one lane of a splat appended just before, the
  /// splat's operand.
  ValueId slice(ValueId value, unsigned first, unsigned lanes) {
    if (first == 0 && lanes == lanes_of(value)) return value;
    const auto& insts = function_.blocks[block_].insts;
    if (lanes == 1 && !insts.empty() && insts.back().op == Op::splat && insts.back().result == value)
      return function_.arg(insts.back(), 0);
    return append_imm(make(Op::slice, type_of(value), lanes), first, {value});
  }
  ValueId concat(ValueId a, ValueId b) {
    return append(make(Op::concat, type_of(a), lanes_of(a) + lanes_of(b)), {a, b});
  }
  /// The same bits as lanes of another integer type.
  ValueId recast(Type type, ValueId value) {
    Inst inst = make(Op::recast, type, lanes_of(value) * size_of(type_of(value)) / size_of(type));
    inst.from = type_of(value);
    return append(inst, {value});
  }
  ValueId join(ValueId low, ValueId high) {
    return append(make(Op::join, Type::u64, lanes_of(low)), {low, high});
  }
  ValueId mask_bits(Type type, ValueId mask) { return append(make(Op::mask_bits, type), {mask}); }
  ValueId bits_mask(ValueId scalar, unsigned lanes) {
    Inst inst = make(Op::bits_mask, Type::m, lanes);
    inst.from = type_of(scalar);
    return append(inst, {scalar});
  }
  /// RampTest: from two one-lane values.
  ValueId ramp(Op op, ValueId first, ValueId limit, unsigned lanes) {
    return append(make(op, type_of(first), lanes), {first, limit});
  }
  ValueId is_place(ValueId ip) { return append(make(Op::is_place, type_of(ip)), {ip}); }
  ValueId mask_group(Op op, ValueId mask, unsigned group) {
    return append_imm(make(op, Type::m, lanes_of(mask)), group, {mask});
  }

  ValueId reg_read(Type type, unsigned lanes, Region region, ValueId mask = no_value) {
    Inst inst = make(Op::reg_read, type, lanes, mask);
    inst.region = region;
    return append(inst, {});
  }
  void reg_write(Region region, ValueId value, ValueId mask = no_value) {
    Inst inst = make(Op::reg_write, type_of(value), lanes_of(value), mask);
    inst.region = region;
    append(inst, {value});
  }
  ValueId reg_gather(Type type, ValueId addresses, ValueId mask = no_value) {
    return append(make(Op::reg_gather, type, lanes_of(addresses), mask), {addresses});
  }
  void reg_scatter(ValueId addresses, ValueId value, ValueId mask = no_value) {
    append(make(Op::reg_scatter, type_of(value), lanes_of(value), mask), {addresses, value});
  }
  ValueId flag_read(unsigned lanes, unsigned first_bit) {
    return append_imm(make(Op::flag_read, Type::m, lanes), first_bit);
  }
  void flag_write(unsigned first_bit, ValueId value, ValueId mask = no_value) {
    append_imm(make(Op::flag_write, Type::m, lanes_of(value), mask), first_bit, {value});
  }
  ValueId mask_get(unsigned variable) {
    return append_imm(make(Op::mask_get, Type::m, function_.simd), variable);
  }
  void mask_set(unsigned variable, ValueId mask) {
    append_imm(make(Op::mask_set, Type::m, lanes_of(mask)), variable, {mask});
  }
  /// spend or spend_bits.
  void spend(Op op, std::uint64_t instructions, ValueId value) {
    append_imm(make(op, type_of(value), lanes_of(value)), instructions, {value});
  }
  void effect(Op op) { append(make(op), {}); }
  void effect(Op op, ValueId value) { append(make(op, type_of(value)), {value}); }

  /// One result per component of `access`, with consecutive ids; returns the first. `surface` is the surface
  /// operand, if the access has one.
  ValueId load(Type type, const MemoryAccess& access, ValueId address, ValueId mask = no_value,
               ValueId surface = no_value) {
    return append_access(make(Op::load, type, lanes_of(address), mask), access, surface, address, {});
  }
  /// As load(), but each result says whether `load` would read the element without a fault.
  ValueId probe(Type type, const MemoryAccess& access, ValueId address, ValueId mask = no_value,
                ValueId surface = no_value) {
    return append_access(make(Op::probe, type, lanes_of(address), mask), access, surface, address, {});
  }
  void store(const MemoryAccess& access, ValueId address, std::span<const ValueId> values,
             ValueId mask = no_value, ValueId surface = no_value) {
    append_access(make(Op::store, type_of(values[0]), lanes_of(address), mask), access, surface, address,
                  values);
  }
  /// Returns the old value, or no_value where it is not wanted.
  ValueId atomic(Type type, const MemoryAccess& access, ValueId address, std::span<const ValueId> sources,
                 bool returns, ValueId mask = no_value, ValueId surface = no_value) {
    const Inst inst = make(Op::atomic, type, lanes_of(address), mask);
    if (returns) return append_access(inst, access, surface, address, sources);
    append_access(inst, access, surface, address, sources, 0);
    return no_value;
  }
  ValueId block_load(Type type, unsigned lanes, const MemoryAccess& access, ValueId address,
                     ValueId surface = no_value) {
    return append_access(make(Op::block_load, type, lanes), access, surface, address, {});
  }
  void block_store(const MemoryAccess& access, ValueId address, ValueId value, ValueId surface = no_value) {
    append_access(make(Op::block_store, type_of(value), lanes_of(value)), access, surface, address,
                  {&value, 1});
  }

  /// Any op with an Image attribute: `args` are its operands in order. Returns the first of `results` values.
  ValueId image(Op op, unsigned lanes, const ImageAccess& access, std::span<const ValueId> args,
                unsigned results, ValueId mask = no_value) {
    Inst inst = make(op, Type::u32, lanes, mask);
    inst.guest_ip = guest_ip_;
    function_.set_image(inst, access);
    function_.set_args(inst, args);
    inst.result_count = static_cast<std::uint16_t>(results);
    return append_results(inst, Signature(function_, inst), results);
  }

  /// Has `results` consecutive results; returns the first.
  ValueId callback(std::uint64_t number, std::span<const ValueId> args, unsigned results) {
    Inst inst = make(Op::callback, Type::u64);
    inst.imm = number;
    inst.guest_ip = guest_ip_;
    function_.set_args(inst, args);
    inst.result_count = static_cast<std::uint16_t>(results);  // the shape allows any number
    return append_results(inst, Signature(function_, inst), results);
  }

  void jump(BlockId taken) { append_targets(make(Op::jump), {taken, no_block}, {}); }
  void branch_any(ValueId mask, BlockId taken, BlockId fallthrough) {
    append_targets(make(Op::branch_any, Type::m, lanes_of(mask)), {taken, fallthrough}, {mask});
  }
  void jump_ip(ValueId ip) { append(make(Op::jump_ip, type_of(ip)), {ip}); }
  void wait(BlockId resume) { append_targets(make(Op::wait), {resume, no_block}, {}); }
  void exit() { append(make(Op::exit), {}); }
  /// trap, or another op of its shape.
  void trap(std::string text, Op op = Op::trap) {
    function_.strings.push_back(std::move(text));
    append_imm(make(op), function_.strings.size() - 1);
  }

 private:
  /// `wanted` is of `inst`.
  ValueId append_results(Inst& inst, const Signature& wanted, unsigned count) {
    inst.result_count = static_cast<std::uint16_t>(count);
    if (count != 0) inst.result = static_cast<ValueId>(function_.values.size());
    for (unsigned k = 0; k < count; ++k) {
      const ValueInfo info = wanted.result(k);
      function_.add_value(info.type, info.lanes);
    }
    function_.blocks[block_].insts.push_back(inst);
    return inst.result;
  }
  ValueId append_imm(Inst inst, std::uint64_t imm, std::initializer_list<ValueId> args = {}) {
    inst.imm = imm;
    return append(inst, args);
  }
  void append_targets(Inst inst, Targets targets, std::initializer_list<ValueId> args) {
    inst.targets = targets;
    append(inst, args);
  }
  ValueId append_access(Inst inst, MemoryAccess access, ValueId surface, ValueId address,
                        std::span<const ValueId> values, unsigned results = 1) {
    inst.guest_ip = guest_ip_;
    access.surface_is_operand = surface != no_value;
    function_.set_access(inst, access);
    inst.first_arg = static_cast<std::uint32_t>(function_.operands.size());
    if (surface != no_value) function_.operands.push_back(surface);
    function_.operands.push_back(address);
    function_.operands.insert(function_.operands.end(), values.begin(), values.end());
    inst.arg_count = static_cast<std::uint16_t>(function_.operands.size() - inst.first_arg);
    const Signature signature(function_, inst);
    return append_results(inst, signature, results == 0 ? 0 : signature.max_results());
  }

  Function& function_;
  BlockId block_ = 0;
  std::uint32_t guest_ip_ = 0;
};

}  // namespace eum::ir
