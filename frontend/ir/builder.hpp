#pragma once
// Appends micro-ops to a block of a function. One method a shape of ops.hpp; the lowerings and tests use
// nothing else. It checks nothing: the verifier does.
#include <initializer_list>
#include <span>

#include "frontend/ir/function.hpp"

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

  /// Every lane = the low bits of imm.
  ValueId constant(Type type, unsigned lanes, std::uint64_t imm) {
    Inst& inst = append(Op::constant, type, lanes, {});
    inst.imm = imm;
    return define(inst, type, lanes);
  }
  ValueId vconst(Type type, unsigned lanes, std::span<const std::uint64_t> lane_values) {
    PoolEntry entry{};
    for (std::size_t i = 0; i < lane_values.size() && i < entry.size(); ++i) entry[i] = lane_values[i];
    function_.pool.push_back(entry);
    Inst& inst = append(Op::vconst, type, lanes, {});
    inst.imm = function_.pool.size() - 1;
    return define(inst, type, lanes);
  }
  /// convert, convert_sat, bitcast. Returns the operand itself where nothing changes.
  ValueId convert(Op op, Type to, ValueId value) {
    Type from = type_of(value);
    if (from == to && (op != Op::convert_sat || !is_float(to))) return value;
    Inst& inst = append(op, to, lanes_of(value), {value});
    inst.from = from;
    return define(inst, to, inst.lanes);
  }
  /// Lanewise1, 2 and 3: the type is that of the first operand.
  ValueId lanewise(Op op, std::initializer_list<ValueId> args) {
    ValueId first = *args.begin();
    Inst& inst = append(op, type_of(first), lanes_of(first), args);
    return define(inst, inst.type, inst.lanes);
  }
  ValueId compare(Op op, ValueId a, ValueId b) {
    Inst& inst = append(op, type_of(a), lanes_of(a), {a, b});
    return define(inst, Type::m, inst.lanes);
  }
  ValueId select(ValueId mask, ValueId a, ValueId b) {
    Inst& inst = append(Op::select, type_of(a), lanes_of(a), {mask, a, b});
    return define(inst, inst.type, inst.lanes);
  }
  struct Pair {
    ValueId first, second;
  };
  /// Wide2 and Wide4.
  Pair wide(Op op, std::initializer_list<ValueId> args) {
    ValueId a = *args.begin();
    Inst& inst = append(op, type_of(a), lanes_of(a), args);
    ValueId first = define(inst, inst.type, inst.lanes, 2);
    return {first, first + 1};
  }
  ValueId splat(ValueId scalar, unsigned lanes) {
    if (lanes == 1) return scalar;
    Inst& inst = append(Op::splat, type_of(scalar), lanes, {scalar});
    return define(inst, inst.type, lanes);
  }
  ValueId slice(ValueId value, unsigned first, unsigned lanes) {
    if (first == 0 && lanes == lanes_of(value)) return value;
    Inst& inst = append(Op::slice, type_of(value), lanes, {value});
    inst.imm = first;
    return define(inst, inst.type, lanes);
  }
  ValueId concat(ValueId a, ValueId b) {
    unsigned lanes = lanes_of(a) + lanes_of(b);
    Inst& inst = append(Op::concat, type_of(a), lanes, {a, b});
    return define(inst, inst.type, lanes);
  }
  ValueId mask_bits(Type type, ValueId mask) {
    Inst& inst = append(Op::mask_bits, type, 1, {mask});
    return define(inst, type, 1);
  }
  ValueId bits_mask(ValueId scalar, unsigned lanes) {
    Inst& inst = append(Op::bits_mask, Type::m, lanes, {scalar});
    inst.from = type_of(scalar);
    return define(inst, Type::m, lanes);
  }
  ValueId mask_group(Op op, ValueId mask, unsigned group) {
    Inst& inst = append(op, Type::m, lanes_of(mask), {mask});
    inst.imm = group;
    return define(inst, Type::m, inst.lanes);
  }

  ValueId reg_read(Type type, unsigned lanes, Region region, ValueId mask = no_value) {
    Inst& inst = append(Op::reg_read, type, lanes, {}, mask);
    inst.region = region;
    return define(inst, type, lanes);
  }
  void reg_write(Region region, ValueId value, ValueId mask = no_value) {
    append(Op::reg_write, type_of(value), lanes_of(value), {value}, mask).region = region;
  }
  ValueId reg_gather(Type type, ValueId addresses, ValueId mask = no_value) {
    Inst& inst = append(Op::reg_gather, type, lanes_of(addresses), {addresses}, mask);
    return define(inst, type, inst.lanes);
  }
  void reg_scatter(ValueId addresses, ValueId value, ValueId mask = no_value) {
    append(Op::reg_scatter, type_of(value), lanes_of(value), {addresses, value}, mask);
  }
  ValueId flag_read(unsigned lanes, unsigned first_bit) {
    Inst& inst = append(Op::flag_read, Type::m, lanes, {});
    inst.imm = first_bit;
    return define(inst, Type::m, lanes);
  }
  void flag_write(unsigned first_bit, ValueId value, ValueId mask = no_value) {
    append(Op::flag_write, Type::m, lanes_of(value), {value}, mask).imm = first_bit;
  }
  ValueId mask_get(unsigned variable) {
    Inst& inst = append(Op::mask_get, Type::m, function_.simd, {});
    inst.imm = variable;
    return define(inst, Type::m, function_.simd);
  }
  void mask_set(unsigned variable, ValueId mask) {
    append(Op::mask_set, Type::m, lanes_of(mask), {mask}).imm = variable;
  }
  void effect(Op op) { append(op, Type::u32, 1, {}); }
  void effect(Op op, ValueId value) { append(op, type_of(value), 1, {value}); }

  /// One result a component of `mem`, of consecutive ids; the first is returned.
  ValueId load(Type type, MemRef mem, ValueId address, ValueId mask = no_value) {
    Inst& inst = append(Op::load, type, lanes_of(address), {address}, mask);
    inst.from = type_of(address);
    inst.mem = mem;
    unsigned count = static_cast<unsigned>(__builtin_popcount(mem.components));
    return define(inst, type, inst.lanes, count);
  }
  void store(MemRef mem, ValueId address, std::span<const ValueId> values, ValueId mask = no_value) {
    Inst& inst = append(Op::store, type_of(values[0]), lanes_of(address), {address}, mask);
    for (ValueId value : values) inst.args[inst.arg_count++] = value;
    inst.from = type_of(address);
    inst.mem = mem;
  }
  /// Returns the old value, or no_value where it is not wanted.
  ValueId atomic(Type type, MemRef mem, ValueId address, std::span<const ValueId> sources, bool returns,
                 ValueId mask = no_value) {
    Inst& inst = append(Op::atomic, type, lanes_of(address), {address}, mask);
    for (ValueId value : sources) inst.args[inst.arg_count++] = value;
    inst.from = type_of(address);
    inst.mem = mem;
    return returns ? define(inst, type, inst.lanes) : no_value;
  }
  ValueId block_load(Type type, unsigned lanes, MemRef mem, ValueId address) {
    Inst& inst = append(Op::block_load, type, lanes, {address});
    inst.from = type_of(address);
    inst.mem = mem;
    return define(inst, type, lanes);
  }
  void block_store(MemRef mem, ValueId address, ValueId value) {
    Inst& inst = append(Op::block_store, type_of(value), lanes_of(value), {address, value});
    inst.from = type_of(address);
    inst.mem = mem;
  }

  /// sys_load, msr_read, msr_write: the value, and the status.
  Pair system_call(Op op, ValueId a, ValueId b, std::uint64_t imm) {
    Inst& inst = append(op, type_of(a), 1, {a, b});
    inst.imm = imm;
    ValueId first = define(inst, inst.type, 1, 2);
    return {first, first + 1};
  }

  void jump(BlockId taken) { append(Op::jump, Type::u32, 1, {}).targets = {taken, no_block}; }
  void branch_any(ValueId mask, BlockId taken, BlockId fallthrough) {
    append(Op::branch_any, Type::m, lanes_of(mask), {mask}).targets = {taken, fallthrough};
  }
  void jump_ip(ValueId ip) { append(Op::jump_ip, type_of(ip), 1, {ip}); }
  void wait(BlockId resume) { append(Op::wait, Type::u32, 1, {}).targets = {resume, no_block}; }
  void exit() { append(Op::exit, Type::u32, 1, {}); }
  void trap(std::string text) {
    function_.strings.push_back(std::move(text));
    append(Op::trap, Type::u32, 1, {}).imm = function_.strings.size() - 1;
  }

 private:
  Inst& append(Op op, Type type, unsigned lanes, std::initializer_list<ValueId> args,
               ValueId mask = no_value) {
    Inst& inst = function_.blocks[block_].insts.emplace_back();
    inst.op = op;
    inst.type = type;
    inst.lanes = static_cast<std::uint8_t>(lanes);
    inst.guest_ip = guest_ip_;
    inst.mask = mask;
    for (ValueId arg : args) inst.args[inst.arg_count++] = arg;
    return inst;
  }
  ValueId define(Inst& inst, Type type, unsigned lanes, unsigned count = 1) {
    inst.result = static_cast<ValueId>(function_.values.size());
    inst.result_count = static_cast<std::uint8_t>(count);
    for (unsigned i = 0; i < count; ++i) function_.add_value(type, lanes);
    return inst.result;
  }

  Function& function_;
  BlockId block_ = 0;
  std::uint32_t guest_ip_ = 0;
};

}  // namespace eum::ir
