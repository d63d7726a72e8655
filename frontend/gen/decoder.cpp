// Decodes bits to Instruction. It knows fields and their defined values, not what an instruction does. Every
// value that the manual leaves undefined is an error that names the field.
#include <array>
#include <cstring>
#include <iterator>

#include "frontend/gen/compaction.hpp"
#include "frontend/gen/instruction.hpp"
#include "frontend/gen/operand.hpp"

namespace eum::gen {
namespace {

/// For each family: the row of each opcode number; opcode_count for unassigned numbers.
using OpcodeMap = std::array<std::uint8_t, 128>;
constexpr auto opcode_maps = [] {
  std::array<OpcodeMap, family_count> out{};
  const auto fill = [&](Family family, std::uint8_t OpcodeInfo::*number) {
    OpcodeMap& map = out[static_cast<std::size_t>(family)];
    map.fill(static_cast<std::uint8_t>(opcode_count));
    for (std::size_t i = 0; i < opcode_count; ++i) {
      if (!exists_on(static_cast<Opcode>(i), family)) continue;
      std::uint8_t& row = map[opcode_table[i].*number];
      // If two rows claim a number, the build stops here.
      if (row != opcode_count) throw "two instructions claim one opcode";
      row = static_cast<std::uint8_t>(i);
    }
  };
#define GEN_FAMILY(name, text, iga64, encoding, ...) \
  fill(Family::name, EncodingData<Encoding::encoding>::opcode_number);
#include "frontend/gen/families.def"
#undef GEN_FAMILY
  return out;
}();

/// Decodes one word. Each step returns false after recording the reason.
template <Encoding E>
class Decoder : OperandDecoder<E> {
 public:
  Decoder(const InstructionWord& word, Instruction& out, const OpcodeShape& shape, Family family,
          Undefined& undefined)
      : OperandDecoder<E>(word, family, undefined), w_(word), i_(out), shape_(shape) {}

  bool run();

 private:
  bool head();
  bool predicate();
  bool options();
  bool condition();
  bool math();
  bool math_operands();
  bool modifiers();
  bool basic();
  bool ternary();
  bool branch();
  bool send();
  bool send_split();

  using OperandDecoder<E>::fail;

  /// Targets wrap around at the 32 bits of IP.
  Target jump_target(std::int32_t raw, int unit, std::uint32_t base) const {
    return {true, Type::d, static_cast<std::uint8_t>(unit), raw,
            static_cast<std::int32_t>(base + static_cast<std::uint32_t>(raw))};
  }
  template <Bits B>
  Target target(int unit) const {
    const auto raw = static_cast<std::int32_t>(signed_value<B>(w_) * unit);
    return jump_target(raw, unit, i_.opcode == Opcode::calla ? 0 : i_.offset);
  }
  /// In branches that also take registers, a field has the type of the immediate offset `Offset`: d, or w if
  /// it has 16 bits.
  template <Bits TypeBits, Bits Offset>
  bool offset_type(Target& out) {
    out.type = Data::types.immediates[get<TypeBits>(w_)];
    return out.type == Type::d || (Offset.width() == 16 && out.type == Type::w) ||
           fail("data type of a branch offset", get<TypeBits>(w_), TypeBits);
  }
  bool src1_is_immediate() const { return get<L.src1_file>(w_) == file_immediate; }

  using Data = EncodingData<E>;
  static constexpr const Layout& L = Data::fields;

  const InstructionWord& w_;
  Instruction& i_;
  const OpcodeShape& shape_;
};

template <Encoding E>
bool Decoder<E>::run() {
  const Format format = shape_.format;
  if (format == Format::Nullary) {
    i_.debug_ctrl = i_.opcode != Opcode::illegal && flag<L.debug_ctrl>(w_);
    return true;
  }
  if (!head() || !predicate() || !options() || !condition()) return false;
  switch (format) {
    case Format::Unary:
    case Format::DoubleImm:
    case Format::Binary:
    case Format::Wait:
      return basic();
    case Format::Math:
      return math() && basic();
    case Format::Ternary:
      return ternary();
    case Format::Send:
      return send();
    case Format::SendSplit:
      return send_split();
    default:
      return branch();
  }
}

template <Encoding E>
bool Decoder<E>::head() {
  const unsigned size = u8<L.exec_size>(w_);
  if (size > 5) return fail("execution size", size, L.exec_size);
  i_.exec_size = static_cast<std::uint8_t>(1u << size);
  i_.channel_offset = i_.opcode == Opcode::jmpi ? 0 : static_cast<std::uint8_t>(4 * u8<L.channel_offset>(w_));
  i_.no_mask = flag<L.mask_ctrl>(w_);
  if (i_.opcode == Opcode::jmpi) {
    if (size != 0) return fail("execution size", size, L.exec_size);
    if (!i_.no_mask) return fail("mask control", 0, L.mask_ctrl);
  }
  if constexpr (L.has(Part::AccessMode)) i_.align16 = flag<L.access_mode>(w_);
  i_.debug_ctrl = flag<L.debug_ctrl>(w_);
  const bool three = shape_.format == Format::Ternary;
  i_.flag_reg = three ? u8<L.t_flag_reg>(w_) : u8<L.flag_reg>(w_);
  i_.flag_subreg = three ? u8<L.t_flag_subreg>(w_) : u8<L.flag_subreg>(w_);
  return true;
}

template <Encoding E>
bool Decoder<E>::predicate() {
  if (!shape_.has(cap::Pred)) return true;
  const unsigned code = u8<L.pred_ctrl>(w_);
  if (i_.align16) {
    constexpr PredCtrl align16[] = {PredCtrl::None, PredCtrl::Sequential, PredCtrl::X,     PredCtrl::Y,
                                    PredCtrl::Z,    PredCtrl::W,          PredCtrl::Any4H, PredCtrl::All4H};
    if (code >= std::size(align16)) return fail("Align16 predicate control", code, L.pred_ctrl);
    i_.pred_ctrl = align16[code];
  } else {
    if (code > static_cast<unsigned>(PredCtrl::All32H)) return fail("predicate control", code, L.pred_ctrl);
    i_.pred_ctrl = static_cast<PredCtrl>(code);
  }
  i_.pred_inverse = flag<L.pred_inv>(w_);
  return true;
}

template <Encoding E>
bool Decoder<E>::options() {
  const bool is_message = is_send(i_.opcode);
  if (const ThreadCtrlSet defined = is_message ? Data::send_thread_ctrls : Data::thread_ctrls) {
    i_.thread_ctrl = static_cast<ThreadCtrl>(u8<L.thread_ctrl>(w_));
    if (!contains(defined, i_.thread_ctrl))
      return fail("thread control", static_cast<unsigned>(i_.thread_ctrl), L.thread_ctrl);
  }
  if (is_message) {
    if constexpr (L.has(Part::NoSrcDep)) i_.send.no_src_dep_set = flag<L.no_src_dep_set>(w_);
    return true;
  }
  const unsigned dep = u8<L.dep_ctrl>(w_);
  i_.no_dd_clr = dep & 1;
  i_.no_dd_chk = dep & 2;
  if constexpr (L.has(Part::BranchCtl))
    i_.branch_ctrl = shape_.has(cap::BranchCtl) && flag<L.branch_ctrl>(w_);
  i_.acc_wr_en = !is_branch(shape_.format) && flag<L.acc_wr_ctrl>(w_);
  i_.saturate = shape_.has(cap::Sat) && flag<L.saturate>(w_);
  return true;
}

template <Encoding E>
bool Decoder<E>::condition() {
  if (!shape_.has(cap::CMod)) return true;
  const unsigned code = u8<L.cond_mod>(w_);
  if (code == 7 || code > static_cast<unsigned>(CondMod::un))
    return fail("condition modifier", code, L.cond_mod);
  i_.cond_mod = static_cast<CondMod>(code);
  return true;
}

template <Encoding E>
bool Decoder<E>::math() {
  i_.math = static_cast<MathFunction>(u8<L.math_function>(w_));
  if (!contains(Data::math_functions, i_.math))
    return fail("math function", static_cast<unsigned>(i_.math), L.math_function);
  if (get<L.dst_file>(w_) != file_grf)
    return fail("register file of a math destination", get<L.dst_file>(w_), L.dst_file);
  return true;
}

template <Encoding E>
bool Decoder<E>::basic() {
  const Format format = shape_.format;
  const bool macro = is_macro(i_.math);
  if (format != Format::Wait) {
    i_.has_dst = true;
    if (!this->destination(i_.dst, i_.align16, macro)) return false;
  }
  i_.source_count = static_cast<std::uint8_t>(format == Format::Math     ? info(i_.math).sources
                                              : format == Format::Binary ? 2
                                                                         : 1);
  if (format == Format::DoubleImm) {
    if (i_.predicated() || i_.cond_mod != CondMod::None)
      return fail("predicate or condition where the immediate lies over the flag register",
                  u8<L.pred_ctrl>(w_), L.pred_ctrl);
    i_.flag_reg = i_.flag_subreg = 0;
    return this->double_immediate(i_.src[0]);
  }
  if (!this->source0(i_.src[0], i_.align16, macro)) return false;
  if (i_.source_count > 1) {
    if (i_.src[0].is_immediate())
      return fail("register file of source 0 (of two)", file_immediate, L.src0_file);
    // Source 1 must not be an architecture register (IVB PRM volume 4 part 3, 1.1), except in movi, where it
    // is null (GED).
    const Files files = i_.opcode == Opcode::movi ? Files::Arf : Files::Grf;
    if (!this->source1(i_.src[1], i_.align16, macro, files)) return false;
  }
  return (i_.math == MathFunction::None || math_operands()) && modifiers();
}

/// math writes and reads general registers; destination and source 0 are addressed directly (GED).
template <Encoding E>
bool Decoder<E>::math_operands() {
  if (!i_.dst.is_grf()) return fail("addressing of a math destination", 1, L.dst_addr_mode);
  if (i_.src[0].kind == OperandKind::Indirect)
    return fail("addressing of a math source", 1, L.src0_addr_mode);
  if (i_.src[0].file != RegisterFile::Grf) return fail("register file of a math source", 0, L.src0_file);
  if constexpr (!Data::math_takes_immediates) {
    if (i_.src[0].is_immediate()) return fail("register file of a math source", file_immediate, L.src0_file);
    if (i_.source_count > 1 && !i_.src[1].is_grf())
      return i_.src[1].is_immediate() ? fail("register file of a math source", file_immediate, L.src1_file)
                                      : fail("addressing of a math source", 1, L.src1_addr_mode);
  }
  return true;
}

/// Instructions without source modifiers must not have any set.
template <Encoding E>
bool Decoder<E>::modifiers() {
  if (shape_.has(cap::SrcMod)) return true;
  const bool three = shape_.format == Format::Ternary;
  const Bits fields[] = {three ? L.t_src0_mod : L.src0_mod, three ? L.t_src1_mod : L.src1_mod, L.t_src2_mod};
  for (unsigned n = 0; n < i_.source_count; ++n)
    if (i_.src[n].modifier != SourceModifier::None)
      return fail("source modifier", static_cast<unsigned>(i_.src[n].modifier), fields[n]);
  return true;
}

template <Encoding E>
bool Decoder<E>::ternary() {
  i_.has_dst = true;
  i_.source_count = 3;
  return OperandDecoder<E>::ternary(i_, i_.opcode == Opcode::madm) && modifiers();
}

template <Encoding E>
bool Decoder<E>::branch() {
  if constexpr (L.has(Part::AccessMode) && !Data::branches_in_align16)
    if (i_.align16) return fail("Align16 access mode of a branch", 1, L.access_mode);
  switch (shape_.format) {
    case Format::Branch1:
      i_.jip = target<L.jip>(Data::branch_unit);
      return true;
    case Format::Branch2:
      i_.jip = target<L.jip>(Data::branch_unit);
      i_.uip = target<L.uip>(Data::branch_unit);
      return true;
    case Format::Jump:
      if (src1_is_immediate()) {
        i_.jip = jump_target(static_cast<std::int32_t>(signed_value<L.imm32>(w_) * Data::jump_unit),
                             Data::jump_unit, i_.next());
        return offset_type<L.src1_type, L.imm32>(i_.jip);
      }
      i_.jip.unit = Data::jump_unit;
      i_.source_count = 1;
      if (!this->source1(i_.src[0], i_.align16, false, Files::Grf)) return false;
      if (i_.src[0].type != Type::d)
        return fail("data type of a branch offset", get<L.src1_type>(w_), L.src1_type);
      return modifiers();
    case Format::Call:
      i_.has_dst = true;
      if (!this->destination(i_.dst, i_.align16, false)) return false;
      if (src1_is_immediate()) {
        i_.jip = target<L.call_offset>(Data::jump_unit);
        return offset_type<L.src1_type, L.call_offset>(i_.jip);
      }
      i_.jip.unit = Data::jump_unit;
      i_.source_count = 1;
      return this->source1(i_.src[0], i_.align16, false, Files::Grf) && modifiers();
    case Format::Return:
      i_.source_count = 1;
      return this->source0(i_.src[0], i_.align16, false) && modifiers();
    default:  // brd, brc
      if (get<L.src0_file>(w_) == file_immediate) {
        i_.jip = target<L.jip>(Data::branch_unit);
        if (!offset_type<L.src0_type, L.jip>(i_.jip)) return false;
        if (shape_.format == Format::BranchRegs) {
          i_.uip = target<L.uip>(Data::branch_unit);
          i_.uip.type = i_.jip.type;
        }
        return true;
      }
      i_.jip.unit = Data::branch_unit;
      i_.source_count = 1;
      return this->source0(i_.src[0], i_.align16, false) && modifiers();
  }
}

/// Payload lengths from the descriptors (families 7 to 11): [28:25] and [24:20] of the descriptor, [9:6] of
/// the extended one.
void payload_lengths(SendInfo& send, bool split) {
  if (!send.desc.is_register) {
    send.src0_length = static_cast<std::int8_t>((send.desc.value >> 25) & 0xf);
    send.response_length = static_cast<std::int8_t>((send.desc.value >> 20) & 0x1f);
  }
  if (!split)
    send.src1_length = 0;
  else if (!send.ex_desc.is_register)
    send.src1_length = static_cast<std::int8_t>((send.ex_desc.value >> 6) & 0xf);
}

template <Encoding E>
bool Decoder<E>::send() {
  SendInfo& s = i_.send;
  const unsigned sfid = u8<L.sfid>(w_);
  s.sfid = static_cast<Sfid>(sfid);
  s.eot = flag<L.eot>(w_);
  s.ex_desc.value = static_cast<std::uint32_t>(sfid | (s.eot ? 0x20u : 0u));
  if constexpr (L.has(Part::ExFuncCtrl))
    s.ex_desc.value |= static_cast<std::uint32_t>(get<L.ex_func_ctrl>(w_) << 16);
  const unsigned file = u8<L.desc_file>(w_);
  if (file == file_immediate) {
    s.desc.value = static_cast<std::uint32_t>(get<L.desc>(w_));
  } else if (file == file_arf) {
    s.desc.is_register = true;
  } else {
    return fail("register file of the descriptor", file, L.desc_file);
  }
  payload_lengths(s, false);
  i_.has_dst = true;
  i_.source_count = 1;
  return this->destination(i_.dst, i_.align16, false) && this->send_source0(i_.src[0], i_.align16);
}

template <Encoding E>
bool Decoder<E>::send_split() {
  if constexpr (!L.has(Part::SendSplit)) {
    return fail("opcode", info(i_.opcode).number, L.opcode);
  } else {
    SendInfo& s = i_.send;
    s.eot = flag<L.eot>(w_);
    if (flag<L.s_desc_file>(w_))
      s.desc.is_register = true;
    else
      s.desc.value = static_cast<std::uint32_t>(get<L.desc>(w_));
    if (flag<L.s_ex_desc_file>(w_)) {
      s.sfid = Sfid::from_register;
      s.ex_desc.is_register = true;
      s.ex_desc.address_subreg = u8<L.s_ex_desc_subreg>(w_);
    } else {
      const unsigned sfid = u8<L.sfid>(w_);
      s.sfid = static_cast<Sfid>(sfid);
      s.ex_desc.value = static_cast<std::uint32_t>(
          get<L.s_ex_func_ctrl>(w_) << 16 | get<L.s_ex_desc_length>(w_) << 6 | (s.eot ? 0x20u : 0u) | sfid);
    }
    payload_lengths(s, true);
    i_.has_dst = true;
    i_.source_count = 2;
    return this->split_send(i_);
  }
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (std::byte b : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", static_cast<unsigned>(b));
  return out;
}

/// decode() for the families whose encoding is E.
template <Encoding E>
Result<Instruction> decode_as(std::span<const std::byte> kernel, std::size_t offset, Family family) {
  constexpr const Layout& L = EncodingData<E>::fields;
  constexpr std::uint8_t compacted = 8, full = 16;
  if (offset > kernel.size() || kernel.size() - offset < compacted)
    return error("instruction at byte {:#x}: expected at least 8 bytes, the kernel has {} bytes", offset,
                 kernel.size());
  if (offset > 0x7fff'fff0) return error("instruction at byte {:#x}: beyond 2 GiB", offset);
  const auto bytes = kernel.subspan(offset);
  InstructionWord word;
  std::memcpy(&word.low, bytes.data(), 8);

  // Copying a constant is cheaper than initialising field by field.
  static constexpr Instruction blank{};
  Result<Instruction> result{blank};
  Instruction& out = *result;
  out.offset = static_cast<std::uint32_t>(offset);
  const bool is_compacted = flag<L.cmpt_ctrl>(word);
  out.length = is_compacted ? compacted : full;
  if (bytes.size() < out.length)
    return error("instruction at byte {:#x}: expected 16 bytes, {} are left in the kernel", offset,
                 bytes.size());

  const auto number = static_cast<unsigned>(get<L.opcode>(word));
  const std::size_t row = opcode_maps[static_cast<std::size_t>(family)][number];
  if (row == opcode_count)
    return error("instruction at byte {:#x}: opcode {:#x} (bits {}) is not defined on {}: {}", offset, number,
                 to_string(L.opcode), info(family).name, hex(bytes.first(out.length)));
  out.opcode = static_cast<Opcode>(row);
  const OpcodeShape& op = shape(out.opcode, family);
  if (!is_compacted) {
    std::memcpy(&word.high, bytes.data() + 8, 8);
  } else if (has_compacted_form<E>(op.format)) {
    word = expand<E>(word.low, op.format);
  } else {
    return error("instruction at byte {:#x}: {} has no compacted form on {}: {}", offset,
                 info(out.opcode).name, info(family).name, hex(bytes.first(out.length)));
  }

  Undefined undefined;
  if (!Decoder<E>(word, out, op, family, undefined).run())
    return error("instruction at byte {:#x}: {}: {} {:#x} (bits {}) is not defined on {}: {}", offset,
                 info(out.opcode).name, undefined.what, undefined.value, to_string(undefined.field),
                 info(family).name, hex(bytes.first(out.length)));
  return result;
}

constexpr std::array decoders{
#define GEN_ENCODING(name) &decode_as<Encoding::name>,
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING
};

/// The bit within 31:0 of a word that marks it as compacted.
constexpr std::array compaction_masks{
#define GEN_ENCODING(name) 1u << EncodingData<Encoding::name>::fields.cmpt_ctrl.ranges[0].lo,
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING
};

}  // namespace

std::size_t length_at(std::span<const std::byte> kernel, std::size_t offset, Family family) {
  std::uint32_t bits;
  std::memcpy(&bits, kernel.data() + offset, sizeof bits);
  return bits & compaction_masks[static_cast<std::size_t>(info(family).encoding)] ? 8 : 16;
}

Result<Instruction> decode(std::span<const std::byte> kernel, std::size_t offset, Family family) {
  return decoders[static_cast<std::size_t>(info(family).encoding)](kernel, offset, family);
}

}  // namespace eum::gen
