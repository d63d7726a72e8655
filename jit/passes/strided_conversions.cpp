// Bytes and words that lie apart in the register file and are converted from or to 32 bits: one in each dword
// is a dword whose other bytes are cut off (or kept), which stays a vector of dwords, where packing it and
// widening it again would take a dozen shuffles. One byte in each word likewise.
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Where a narrow element lies in the dword or word around it.
struct Container {
  unsigned bytes = 0;  ///< 2 or 4; 0: the region is none of containers
  unsigned shift = 0;  ///< bits from the container's beginning to the element's
};

class StridedConversions {
 public:
  explicit StridedConversions(Function& function)
      : function_(function), reads_(function.values.size()), out_(function) {}

  void run(Block& block) {
    out_.clear();
    bool changed = false;
    find_converted(block);
    for (const Inst& inst : block.insts) {
      out_.keep(inst);
      changed |= inst.op == Op::reg_read    ? read(inst)
                 : inst.op == Op::convert   ? convert(inst)
                 : inst.op == Op::reg_write ? write(inst)
                                            : false;
    }
    for (const Inst& inst : block.insts)
      if (inst.op == Op::reg_read || inst.op == Op::convert) reads_[inst.result] = {};
    if (changed) out_.replace(block);
  }

 private:
  /// Of a narrow value: what it was read or converted from.
  struct Source {
    Container container{};
    ValueId whole = no_value;  ///< the containers that it was read with, or the 32 bits that it was cut from
    bool converted = false;    ///< somebody widens it
  };

  Container container_of(const Inst& inst) const {
    const unsigned bytes = size_of(inst.type);
    const int stride = inst.region.stride(inst.lanes);
    if (!is_int(inst.type) || bytes > 2 || stride < 2 || inst.lanes < 8) return {};
    const unsigned container = static_cast<unsigned>(stride) * bytes, slot = function_.slot_bytes;
    const bool whole_slots = (container == 2 || container == 4) && inst.lanes * container % slot == 0 &&
                             inst.region.offset % slot + bytes <= container;
    if (!whole_slots) return {};
    return {container, inst.region.offset % container * 8};
  }
  static bool is_dword(Type type) { return size_of(type) == 4; }
  static bool widens(const Inst& inst) {
    return inst.op == Op::convert && is_int(inst.from) && size_of(inst.from) < 4 && is_dword(inst.type);
  }

  void find_converted(const Block& block) {
    for (const Inst& inst : block.insts)
      if (widens(inst)) reads_[function_.arg(inst, 0)].converted = true;
  }

  ValueId op2(Op op, ValueId a, ValueId b, const Inst& at) {
    const ValueInfo info = function_.values[a];
    return out_.append(make_op(op, info.type, info.lanes, at.guest_ip), {a, b});
  }
  ValueId constant_like(ValueId value, std::uint64_t bits, const Inst& at) {
    const ValueInfo info = function_.values[value];
    Inst inst = make_op(Op::constant, info.type, info.lanes, at.guest_ip);
    inst.imm = bits;
    return out_.append(inst, {});
  }
  ValueId bitcast(ValueId value, Type type, const Inst& at) {
    Inst inst = make_op(Op::bitcast, type, function_.values[value].lanes, at.guest_ip);
    inst.from = function_.values[value].type;
    return inst.from == type ? value : out_.append(inst, {value});
  }
  ValueId shifted(Op op, ValueId value, unsigned by, const Inst& at) {
    return by == 0 ? value : op2(op, value, constant_like(value, by, at), at);
  }
  /// The containers of a region.
  ValueId read_containers(const Inst& inst, Container container, bool is_signed) {
    Inst read = make_op(Op::reg_read, int_type(container.bytes, is_signed), inst.lanes, inst.guest_ip);
    read.region = Region::packed(inst.region.offset - container.shift / 8);
    read.mask = inst.mask;
    return out_.append(read, {});
  }

  bool read(const Inst& inst) {
    Source& source = reads_[inst.result];
    const Container container = container_of(inst);
    if (container.bytes == 0 || !source.converted) return false;
    source.container = container;
    source.whole = read_containers(inst, container, is_signed(inst.type));
    return true;
  }

  /// Of a conversion of elements to 32 bits: cut from their containers. Of one from 32 bits: remembers them.
  bool convert(const Inst& inst) {
    const ValueId arg = function_.arg(inst, 0);
    if (is_int(inst.type) && is_int(inst.from) && size_of(inst.type) < size_of(inst.from) &&
        size_of(inst.from) <= 4) {
      reads_[inst.result].whole = arg;
      return false;
    }
    if (!widens(inst) || reads_[arg].container.bytes == 0) return false;
    const Source source = reads_[arg];
    const Inst original = inst;
    out_.insts().pop_back();
    const unsigned width = 8 * source.container.bytes, bits = 8 * size_of(original.from);
    const unsigned shift = source.container.shift, above = width - shift - bits;
    ValueId value = source.whole;
    if (is_signed(original.from)) {
      value = shifted(Op::shl, value, above, original);
      value = shifted(Op::asr, value, width - bits, original);
    } else {
      value = shifted(Op::shr, value, shift, original);
      if (above != 0)
        value = op2(Op::and_, value, constant_like(value, (1u << bits) - 1, original), original);
    }
    if (function_.values[value].type == original.type) {
      out_.insts().back().result = original.result;
      function_.values.pop_back();
      return true;
    }
    if (source.container.bytes == 4 && is_float(original.type)) value = bitcast(value, Type::s32, original);
    Inst last = original;
    last.op = source.container.bytes == 4 && is_int(original.type) ? Op::bitcast : Op::convert;
    last.from = function_.values[value].type;
    function_.set_args(last, {value});
    out_.keep(last);
    return true;
  }

  /// Elements that were 32 bits, or words, wide: put between the other bytes of their containers.
  bool write(const Inst& inst) {
    const Container container = container_of(inst);
    if (container.bytes == 0) return false;
    ValueId value = reads_[function_.arg(inst, 0)].whole;
    if (value == no_value || size_of(function_.values[value].type) < container.bytes) return false;
    if (reads_[function_.arg(inst, 0)].container.bytes != 0) return false;
    const Inst original = inst;
    out_.insts().pop_back();
    const Type type = int_type(container.bytes, false);
    if (function_.values[value].type != type) {
      const bool is_as_wide = size_of(function_.values[value].type) == container.bytes;
      Inst cut = make_op(is_as_wide ? Op::bitcast : Op::convert, type, original.lanes, original.guest_ip);
      cut.from = function_.values[value].type;
      value = out_.append(cut, {value});
    }
    const std::uint64_t field = ((1u << 8 * size_of(original.type)) - 1) << container.shift;
    const ValueId old = read_containers(original, container, false);
    const ValueId placed = shifted(Op::shl, value, container.shift, original);
    // One after the other, so that every compiler numbers them alike.
    const ValueId bits = constant_like(old, field, original);
    const ValueId different = op2(Op::xor_, placed, old, original);
    const ValueId change = op2(Op::and_, different, bits, original);
    const ValueId merged = op2(Op::xor_, old, change, original);
    Inst write = original;
    write.type = type;
    write.region = Region::packed(original.region.offset - container.shift / 8);
    function_.set_args(write, {merged});
    out_.keep(write);
    return true;
  }

  Function& function_;
  std::vector<Source> reads_;
  NewBlock out_;
};

}  // namespace

void strided_conversions(Function& function) {
  StridedConversions conversions(function);
  for (Block& block : function.blocks) conversions.run(block);
}

}  // namespace eum::jit
