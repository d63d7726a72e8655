// Bytes and words that are not adjacent in the register file and are converted from or to 32 bits: one in
// each dword is handled as a dword whose other bytes are cleared (or kept), which stays a vector of dwords,
// where packing and widening it again would take a dozen shuffles. The same holds for one byte in each word.
// And ops on such elements whose results go into dwords again are done on the dwords, if low bits of the
// results depend only on low bits of the operands.
#include <algorithm>
#include <vector>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Where a narrow element is in the dword or word around it.
struct Container {
  unsigned bytes = 0;  ///< 2 or 4; 0: the region has no containers
  unsigned shift = 0;  ///< bits from the container's beginning to the element's
};

class StridedConversions {
 public:
  explicit StridedConversions(Function& function)
      : function_(function), values_(function.values.size()), out_(function) {}

  void run(Block& block) {
    const auto has_containers = [&](const Inst& inst) {
      return (inst.op == Op::reg_read || inst.op == Op::reg_write) && container_of(inst).bytes != 0;
    };
    if (std::ranges::none_of(block.insts, has_containers)) return;
    out_.clear();
    bool changed = false;
    find_uses(block);
    for (index_ = 0; index_ < block.insts.size(); ++index_) {
      const Inst& inst = block.insts[index_];
      out_.keep(inst);
      changed |= inst.op == Op::reg_read    ? read(inst)
                 : inst.op == Op::convert   ? convert(inst)
                 : inst.op == Op::reg_write ? write(inst)
                 : is_of_low_bits(inst)     ? compute_low(inst)
                                            : false;
    }
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) values_[inst.result + k] = {};
    if (changed) out_.replace(block);
  }

 private:
  static constexpr unsigned all_bits = 64;
  /// For a narrow value: from what it was read or converted, and how it is used.
  struct Source {
    Container container{};
    ValueId whole = no_value;  ///< the containers with which it was read, or the 32 bits that were cut
    ValueId low = no_value;    ///< dwords with the value's low bits
    unsigned low_bits = 0;     ///< how many
    bool converted = false;    ///< something widens it
    bool wants_low = false;    ///< something prefers it as dwords
    unsigned wanted = 0;       ///< how many of its low bits are used
  };

  /// How bytes of the words at a place are read.
  struct Readers {
    unsigned place = 0;
    bool widened = false, unwidened = false;  ///< as words, or not
    bool is_known = false;                    ///< there are any
    ValueId mask = no_value;                  ///< of all of them, or no value
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

  static bool is_cut(const Inst& inst) {
    return inst.op == Op::convert && is_int(inst.type) && is_int(inst.from) &&
           size_of(inst.type) < size_of(inst.from) && size_of(inst.from) <= 4;
  }
  /// Whether it extends bytes to words.
  static bool is_extension(const Inst& inst) {
    return inst.op == Op::convert && is_int(inst.type) && size_of(inst.type) == 2 && is_int(inst.from) &&
           size_of(inst.from) == 1;
  }
  /// Whether the low bits of the result depend only on as many low bits of the operands.
  static bool is_of_low_bits(const Inst& inst) {
    switch (inst.op) {
      case Op::add:
      case Op::sub:
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::not_:
      case Op::bitcast:
        return is_int(inst.type) && size_of(inst.type) == 2;
      default:
        return false;
    }
  }

  /// The first byte of the containers of a region.
  static unsigned place_of(const Inst& inst, Container container) {
    return inst.region.offset - container.shift / 8;
  }
  /// Whether the block writes all bytes of these dwords, element by element.
  bool writes_all_of(unsigned place) const {
    constexpr unsigned all = 0xf;
    const auto found = std::ranges::find(written_, place, &Written::place);
    return found != written_.end() && found->bytes == all;
  }
  /// Whether what it writes to bytes of words is read, and only as words.
  bool is_widened() const { return readers_[index_].widened && !readers_[index_].unwidened; }
  /// Whether it writes a constant to bytes of words that are read as words, perhaps among others.
  bool is_constant_in_words(const Inst& write) const {
    const Inst* value = out_.definition(function_.arg(write, 0));
    return value && value->op == Op::constant && readers_[index_].widened;
  }
  Readers& readers_of(unsigned place) {
    const auto found = std::ranges::find(later_, place, &Readers::place);
    return found != later_.end() ? *found : later_.emplace_back(Readers{.place = place});
  }
  /// What reads bytes of words behind a write, as far as that may have written them.
  void note_words(const Inst& inst, std::size_t index) {
    Readers& readers = readers_of(place_of(inst, container_of(inst)));
    if (inst.op == Op::reg_write) {
      readers_[index] = readers;
      if (inst.mask == no_value || (readers.is_known && inst.mask == readers.mask))
        readers = {.place = readers.place};
      return;
    }
    (values_[inst.result].converted ? readers.widened : readers.unwidened) = true;
    if (!readers.is_known) readers.mask = inst.mask;
    readers.is_known = true;
    if (inst.mask != readers.mask) readers.mask = no_value;
  }
  void note_write(const Inst& inst) {
    const Container container = container_of(inst);
    const unsigned place = place_of(inst, container);
    auto found = std::ranges::find(written_, place, &Written::place);
    if (found == written_.end()) found = written_.insert(written_.end(), {place, 0});
    found->bytes |= ((1u << size_of(inst.type)) - 1) << container.shift / 8;
  }

  void find_uses(const Block& block) {
    written_.clear();
    later_.clear();
    readers_.assign(block.insts.size(), {});
    for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
      unsigned wanted = all_bits;
      if (is_cut(*inst))
        wanted = 8 * size_of(inst->type);
      else if (is_of_low_bits(*inst) || is_extension(*inst))
        wanted = values_[inst->result].wanted;
      else if (inst->op == Op::reg_write && container_of(*inst).bytes == 4) {
        wanted = 8 * size_of(inst->type);
        note_write(*inst);
      } else if ((inst->op == Op::reg_read || inst->op == Op::reg_write) && container_of(*inst).bytes == 2) {
        note_words(*inst, static_cast<std::size_t>(block.insts.rend() - inst) - 1);
      }
      for (const ValueId arg : function_.args(*inst)) {
        values_[arg].converted |= widens(*inst);
        values_[arg].wants_low |= wanted <= 16;
        values_[arg].wanted = std::max(values_[arg].wanted, wanted);
      }
    }
  }

  ValueId op2(Op op, ValueId a, ValueId b, const Inst& at) {
    const ValueInfo info = function_.values[a];
    return out_.append(make_op(op, info.type, info.lanes, at.guest_ip), {a, b});
  }
  ValueId constant_like(ValueId value, std::uint64_t bits, const Inst& at) {
    const ValueInfo info = function_.values[value];
    return out_.constant(info.type, info.lanes, bits, at.guest_ip);
  }
  ValueId bitcast(ValueId value, Type type, const Inst& at) {
    return out_.converted(Op::bitcast, type, value, at.guest_ip);
  }
  ValueId shifted(Op op, ValueId value, unsigned by, const Inst& at) {
    return by == 0 ? value : op2(op, value, constant_like(value, by, at), at);
  }
  /// Reads the containers of a region.
  ValueId read_containers(const Inst& inst, Container container, bool is_signed) {
    Inst read = make_op(Op::reg_read, int_type(container.bytes, is_signed), inst.lanes, inst.guest_ip);
    read.region = Region::packed(place_of(inst, container));
    read.mask = inst.mask;
    return out_.append(read, {});
  }

  /// Dwords with the low bits of a value, if there are any.
  Source& low_of(ValueId value, const Inst& at) {
    Source& source = values_[value];
    if (source.low != no_value) return source;
    const Inst* definition = out_.definition(value);
    if (source.container.bytes == 4) {
      source.low_bits = 8 * size_of(function_.values[value].type);
      source.low = shifted(Op::shr, bitcast(source.whole, Type::u32, at), source.container.shift, at);
    } else if (definition && definition->op == Op::constant && size_of(definition->type) == 2) {
      source.low_bits = 16;
      source.low = out_.constant(Type::u32, definition->lanes, definition->imm & 0xffff, at.guest_ip);
    }
    return source;
  }
  void set_low(ValueId value, const Source& as, unsigned bits) {
    values_[value].low = as.low;
    values_[value].low_bits = std::min(as.low_bits, bits);
  }

  /// An op on words: done on dwords too, if that suffices for all of its users.
  bool compute_low(const Inst& inst) {
    const unsigned wanted = values_[inst.result].wanted;
    if (wanted == 0 || wanted > 16 || inst.lanes < 8) return false;
    std::array<ValueId, 2> operands{no_value, no_value};
    unsigned bits = 16;
    for (unsigned k = 0; k < inst.arg_count; ++k) {
      const Source& operand = low_of(function_.arg(inst, k), inst);
      if (operand.low == no_value || operand.low_bits < wanted) return false;
      operands[k] = operand.low;
      bits = std::min(bits, operand.low_bits);
    }
    ValueId low = operands[0];
    if (inst.op != Op::bitcast) {
      const Inst op = make_op(inst.op, Type::u32, inst.lanes, inst.guest_ip);
      low =
          inst.arg_count == 1 ? out_.append(op, {operands[0]}) : out_.append(op, {operands[0], operands[1]});
    }
    values_[inst.result].low = low;
    values_[inst.result].low_bits = bits;
    return true;
  }

  bool read(const Inst& inst) {
    Source& source = values_[inst.result];
    const Container container = container_of(inst);
    if (container.bytes == 0 || !(source.converted || (source.wants_low && container.bytes == 4)))
      return false;
    source.container = container;
    source.whole = read_containers(inst, container, is_signed(inst.type));
    return true;
  }

  /// A conversion of elements to 32 bits extracts them from their containers. One from 32 bits is remembered.
  bool convert(const Inst& inst) {
    const ValueId arg = function_.arg(inst, 0);
    if (is_cut(inst)) {
      values_[inst.result].whole = arg;
      set_low(inst.result, values_[arg], 8 * size_of(inst.type));
      return false;
    }
    if (is_extension(inst) && values_[inst.result].wanted <= 8) {
      const Source& low = low_of(arg, inst);
      set_low(inst.result, low, 8);
      return low.low != no_value;
    }
    if (!widens(inst) || values_[arg].container.bytes == 0) return false;
    const Source source = values_[arg];
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
      out_.let_last_define(original.result);
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

  /// Elements that were 32 bits, or words, wide, or that are all elements of dwords: inserted into their
  /// containers.
  bool write(const Inst& inst) {
    const Container container = container_of(inst);
    if (container.bytes == 0) return false;
    const Inst original = inst;
    const ValueId arg = function_.arg(inst, 0);
    out_.insts().pop_back();
    ValueId value = values_[arg].whole;
    if (container.bytes == 4 && low_of(arg, original).low_bits >= 8 * size_of(original.type)) {
      value = values_[arg].low;
    } else if (value == no_value || values_[arg].container.bytes != 0) {
      if (container.bytes == 4 ? !writes_all_of(place_of(original, container))
                               : !is_widened() && !is_constant_in_words(original)) {
        out_.keep(original);
        return false;
      }
      value = bitcast(arg, int_type(size_of(original.type), false), original);
    }
    const Type type = int_type(container.bytes, false);
    const bool is_as_wide = size_of(function_.values[value].type) == container.bytes;
    value = out_.converted(is_as_wide ? Op::bitcast : Op::convert, type, value, original.guest_ip);
    const std::uint64_t field = ((1u << 8 * size_of(original.type)) - 1) << container.shift;
    const ValueId old = read_containers(original, container, false);
    const ValueId placed = shifted(Op::shl, value, container.shift, original);
    const ValueId bits = constant_like(old, field, original);
    const ValueId merged =
        out_.append(make_op(Op::bfi2, type, original.lanes, original.guest_ip), {bits, placed, old});
    Inst write = original;
    write.type = type;
    write.region = Region::packed(place_of(original, container));
    function_.set_args(write, {merged});
    out_.keep(write);
    return true;
  }

  /// Which bytes of the dwords from a place on are written as elements, a bit each.
  struct Written {
    unsigned place, bytes;
  };

  Function& function_;
  std::vector<Source> values_;
  std::vector<Written> written_;  // of the block, a few
  std::vector<Readers> later_;    // at each place
  std::vector<Readers> readers_;  // of each write
  std::size_t index_ = 0;         // of the instruction
  NewBlock out_;
};

}  // namespace

void strided_conversions(Function& function) {
  StridedConversions conversions(function);
  for (Block& block : function.blocks) conversions.run(block);
}

}  // namespace eum::jit
