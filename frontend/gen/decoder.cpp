// Bits to Instruction. It knows fields and their defined values, not what an instruction does.
// Every value that the manual leaves undefined is an error that names the field.
#include <algorithm>
#include <cstring>
#include <optional>

#include "frontend/gen/compaction.hpp"
#include "frontend/gen/fields.hpp"
#include "frontend/gen/instruction.hpp"
#include "frontend/gen/operand.hpp"

namespace eum::gen {
namespace {

/// Opcode field to row; opcode_count where the number is free.
constexpr auto opcode_by_number = [] {
  std::array<std::uint8_t, 128> out{};
  out.fill(static_cast<std::uint8_t>(opcode_count));
  for (std::size_t i = 0; i < opcode_count; ++i) {
    // A row that claims a number twice stops the build here.
    if (out[opcode_table[i].number] != opcode_count) throw "two instructions claim one opcode";
    out[opcode_table[i].number] = static_cast<std::uint8_t>(i);
  }
  return out;
}();

/// Decodes one word of a family whose fields are at L. Each step returns false after it recorded why.
template <const Layout& L>
class Decoder {
 public:
  Decoder(const Encoding& word, Instruction& out, Family family, Undefined& undefined)
      : w_(word), i_(out), family_(family), undefined_(undefined) {}

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

  bool fail(const char* what, std::uint64_t value, const Bits& field) {
    undefined_ = {what, value, field};
    return false;
  }
  template <Bits B>
  std::uint8_t u8() const {
    return static_cast<std::uint8_t>(get<B>(w_));
  }
  template <Bits B>
  bool flag() const {
    return get<B>(w_) != 0;
  }

  /// IP has 32 bits.
  Target jump_target(std::int32_t raw, std::uint32_t base) const {
    return {true, raw, static_cast<std::int32_t>(base + static_cast<std::uint32_t>(raw))};
  }
  template <Bits B>
  Target target() const {
    const auto raw = static_cast<std::int32_t>(get<B>(w_));
    return jump_target(raw, i_.opcode == Opcode::calla ? 0 : i_.offset);
  }
  /// An immediate offset of the branches that also take registers has type d.
  template <Bits B>
  bool offset_type() {
    constexpr unsigned type_d = 1;
    return get<B>(w_) == type_d || fail("data type of a branch offset", get<B>(w_), B);
  }
  bool src1_is_immediate() const { return get<L.src1_file>(w_) == 3; }

  const Encoding& w_;
  Instruction& i_;
  Family family_;
  Undefined& undefined_;
};

template <const Layout& L>
bool Decoder<L>::run() {
  const Format format = info(i_.opcode).format;
  if (format == Format::Nullary) {
    i_.debug_ctrl = i_.opcode != Opcode::illegal && flag<L.debug_ctrl>();
    return true;
  }
  if (!head() || !predicate() || !options() || !condition()) return false;
  switch (format) {
    case Format::Unary:
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

template <const Layout& L>
bool Decoder<L>::head() {
  const unsigned size = u8<L.exec_size>();
  if (size > 5) return fail("execution size", size, L.exec_size);
  i_.exec_size = static_cast<std::uint8_t>(1u << size);
  i_.channel_offset = i_.opcode == Opcode::jmpi ? 0 : static_cast<std::uint8_t>(4 * u8<L.channel_offset>());
  i_.no_mask = flag<L.mask_ctrl>();
  if (i_.opcode == Opcode::jmpi) {
    if (size != 0) return fail("execution size", size, L.exec_size);
    if (!i_.no_mask) return fail("mask control", 0, L.mask_ctrl);
  }
  i_.align16 = flag<L.access_mode>();
  i_.debug_ctrl = flag<L.debug_ctrl>();
  i_.flag_reg = u8<L.flag_reg>();
  i_.flag_subreg = u8<L.flag_subreg>();
  return true;
}

template <const Layout& L>
bool Decoder<L>::predicate() {
  if (!has(i_.opcode, cap::Pred)) return true;
  const unsigned code = u8<L.pred_ctrl>();
  if (i_.align16) {
    constexpr PredCtrl align16[] = {PredCtrl::None, PredCtrl::Sequential, PredCtrl::X,     PredCtrl::Y,
                                    PredCtrl::Z,    PredCtrl::W,          PredCtrl::Any4H, PredCtrl::All4H};
    if (code >= std::size(align16)) return fail("Align16 predicate control", code, L.pred_ctrl);
    i_.pred_ctrl = align16[code];
  } else {
    if (code > static_cast<unsigned>(PredCtrl::All32H)) return fail("predicate control", code, L.pred_ctrl);
    i_.pred_ctrl = static_cast<PredCtrl>(code);
  }
  i_.pred_inverse = flag<L.pred_inv>();
  return true;
}

template <const Layout& L>
bool Decoder<L>::options() {
  const bool is_message = is_send(i_.opcode);
  if (!is_message || L.ex_func_ctrl.count != 0) {
    constexpr ThreadCtrl codes[] = {ThreadCtrl::None, ThreadCtrl::Atomic, ThreadCtrl::Switch};
    const unsigned thread = u8<L.thread_ctrl>();
    if (thread >= std::size(codes)) return fail("thread control", thread, L.thread_ctrl);
    i_.thread_ctrl = codes[thread];
  }
  if (is_message) {
    if constexpr (L.no_src_dep_set.count != 0) i_.send.no_src_dep_set = flag<L.no_src_dep_set>();
    return true;
  }
  const unsigned dep = u8<L.dep_ctrl>();
  i_.no_dd_clr = dep & 1;
  i_.no_dd_chk = dep & 2;
  if (has(i_.opcode, cap::BranchCtl))
    i_.branch_ctrl = flag<L.branch_ctrl>();
  else if (!is_branch(i_.opcode))
    i_.acc_wr_en = flag<L.acc_wr_ctrl>();
  i_.saturate = has(i_.opcode, cap::Sat) && flag<L.saturate>();
  return true;
}

template <const Layout& L>
bool Decoder<L>::condition() {
  if (!has(i_.opcode, cap::CMod)) return true;
  const unsigned code = u8<L.cond_mod>();
  if (code == 7 || code > static_cast<unsigned>(CondMod::un))
    return fail("condition modifier", code, L.cond_mod);
  i_.cond_mod = static_cast<CondMod>(code);
  return true;
}

template <const Layout& L>
bool Decoder<L>::math() {
  const unsigned code = u8<L.math_function>();
  if (code == 0 || code == 8) return fail("math function", code, L.math_function);
  i_.math = static_cast<MathFunction>(code);
  if (get<L.dst_file>(w_) != 1)
    return fail("register file of a math destination", get<L.dst_file>(w_), L.dst_file);
  return true;
}

template <const Layout& L>
bool Decoder<L>::basic() {
  const Format format = info(i_.opcode).format;
  const bool macro = is_macro(i_.math);
  OperandDecoder<L> operands(w_, family_, undefined_);
  if (format != Format::Wait) {
    i_.has_dst = true;
    if (!operands.destination(i_.dst, i_.align16, macro)) return false;
  }
  i_.source_count = static_cast<std::uint8_t>(format == Format::Math     ? source_count(i_.math)
                                              : format == Format::Binary ? 2
                                                                         : 1);
  if (!operands.source0(i_.src[0], i_.align16, macro)) return false;
  if (i_.source_count > 1) {
    if (i_.src[0].is_immediate()) return fail("register file of source 0 (of two)", 3, L.src0_file);
    if (!operands.source1(i_.src[1], i_.align16, macro)) return false;
  }
  return (i_.math == MathFunction::None || math_operands()) && modifiers();
}

/// math writes and reads general registers; destination and source 0 are addressed directly (GED).
template <const Layout& L>
bool Decoder<L>::math_operands() {
  if (!i_.dst.is_grf()) return fail("addressing of a math destination", 1, L.dst_addr_mode);
  if (i_.src[0].kind == OperandKind::Indirect)
    return fail("addressing of a math source", 1, L.src0_addr_mode);
  if (i_.src[0].file != RegisterFile::Grf) return fail("register file of a math source", 0, L.src0_file);
  return true;
}

/// Instructions without source modifiers must not carry any.
template <const Layout& L>
bool Decoder<L>::modifiers() {
  if (has(i_.opcode, cap::SrcMod)) return true;
  const bool three = info(i_.opcode).format == Format::Ternary;
  const Bits fields[] = {three ? L.t_src0_mod : L.src0_mod, three ? L.t_src1_mod : L.src1_mod, L.t_src2_mod};
  for (unsigned n = 0; n < i_.source_count; ++n)
    if (i_.src[n].modifier != SourceModifier::None)
      return fail("source modifier", static_cast<unsigned>(i_.src[n].modifier), fields[n]);
  return true;
}

template <const Layout& L>
bool Decoder<L>::ternary() {
  if (!i_.align16) return fail("Align1 access mode of a three-source instruction", 0, L.access_mode);
  i_.has_dst = true;
  i_.source_count = 3;
  return OperandDecoder<L>(w_, family_, undefined_).ternary(i_, i_.opcode == Opcode::madm) && modifiers();
}

template <const Layout& L>
bool Decoder<L>::branch() {
  if (i_.align16) return fail("Align16 access mode of a branch", 1, L.access_mode);
  OperandDecoder<L> operands(w_, family_, undefined_);
  switch (info(i_.opcode).format) {
    case Format::Branch1:
      i_.jip = target<L.jip>();
      return true;
    case Format::Branch2:
      i_.jip = target<L.jip>();
      i_.uip = target<L.uip>();
      return true;
    case Format::Jump:
      if (src1_is_immediate()) {
        i_.jip = jump_target(static_cast<std::int32_t>(get<L.jip>(w_)), i_.next());
        return offset_type<L.src1_type>();
      }
      i_.source_count = 1;
      if (!operands.source1(i_.src[0], false, false)) return false;
      if (i_.src[0].type != Type::d)
        return fail("data type of a branch offset", get<L.src1_type>(w_), L.src1_type);
      return modifiers();
    case Format::Call:
      i_.has_dst = true;
      if (!operands.destination(i_.dst, false, false)) return false;
      if (src1_is_immediate()) {
        i_.jip = target<L.jip>();
        return offset_type<L.src1_type>();
      }
      i_.source_count = 1;
      return operands.source1(i_.src[0], false, false) && modifiers();
    case Format::Return:
      i_.source_count = 1;
      return operands.source0(i_.src[0], false, false) && modifiers();
    default:  // brd, brc
      if (get<L.src0_file>(w_) == 3) {
        i_.jip = target<L.jip>();
        if (info(i_.opcode).format == Format::BranchRegs) i_.uip = target<L.uip>();
        return offset_type<L.src0_type>();
      }
      i_.source_count = 1;
      return operands.source0(i_.src[0], false, false) && modifiers();
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

template <const Layout& L>
bool Decoder<L>::send() {
  SendInfo& s = i_.send;
  const unsigned sfid = u8<L.sfid>();
  s.sfid = static_cast<Sfid>(sfid);
  s.eot = flag<L.eot>();
  s.ex_desc.value = static_cast<std::uint32_t>(sfid | (s.eot ? 0x20u : 0u));
  if constexpr (L.ex_func_ctrl.count != 0)
    s.ex_desc.value |= static_cast<std::uint32_t>(get<L.ex_func_ctrl>(w_) << 16);
  const unsigned file = u8<L.desc_file>();
  if (file == 3) {
    s.desc.value = static_cast<std::uint32_t>(get<L.desc>(w_));
  } else if (file == 0) {
    s.desc.is_register = true;
  } else {
    return fail("register file of the descriptor", file, L.desc_file);
  }
  payload_lengths(s, false);
  i_.has_dst = true;
  i_.source_count = 1;
  OperandDecoder<L> operands(w_, family_, undefined_);
  return operands.destination(i_.dst, i_.align16, false) && operands.send_source0(i_.src[0], i_.align16);
}

template <const Layout& L>
bool Decoder<L>::send_split() {
  if constexpr (L.s_dst_reg.count == 0) {
    return fail("opcode", info(i_.opcode).number, L.opcode);
  } else {
    SendInfo& s = i_.send;
    s.eot = flag<L.eot>();
    if (flag<L.s_desc_file>())
      s.desc.is_register = true;
    else
      s.desc.value = static_cast<std::uint32_t>(get<L.desc>(w_));
    if (flag<L.s_ex_desc_file>()) {
      s.sfid = Sfid::from_register;
      s.ex_desc.is_register = true;
      s.ex_desc.address_subreg = u8<L.s_ex_desc_subreg>();
    } else {
      const unsigned sfid = u8<L.sfid>();
      s.sfid = static_cast<Sfid>(sfid);
      s.ex_desc.value = static_cast<std::uint32_t>(
          get<L.s_ex_func_ctrl>(w_) << 16 | get<L.s_ex_desc_length>(w_) << 6 | (s.eot ? 0x20u : 0u) | sfid);
    }
    payload_lengths(s, true);
    i_.has_dst = true;
    i_.source_count = 2;
    return OperandDecoder<L>(w_, family_, undefined_).split_send(i_);
  }
}

bool decode_word(const Encoding& word, Instruction& out, Family family, Undefined& undefined) {
  switch (family) {
    case Family::Gen8:
      return Decoder<gen8_layout>(word, out, family, undefined).run();
    case Family::Gen9:
      return Decoder<gen9_layout>(word, out, family, undefined).run();
  }
  return false;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (std::byte b : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", static_cast<unsigned>(b));
  return out;
}

}  // namespace

Result<Instruction> decode(std::span<const std::byte> kernel, std::size_t offset, Family family) {
  constexpr std::uint8_t compacted = 8, full = 16;
  if (offset > kernel.size() || kernel.size() - offset < compacted)
    return error("instruction at byte {:#x}: expected at least 8 bytes, the kernel has {} bytes", offset,
                 kernel.size());
  if (offset > 0x7fff'fff0) return error("instruction at byte {:#x}: beyond 2 GiB", offset);
  const auto bytes = kernel.subspan(offset);
  Encoding word;
  std::memcpy(&word.low, bytes.data(), 8);

  // A copy of constant bytes, which costs less than storing field by field.
  static constexpr Instruction blank{};
  Result<Instruction> result{blank};
  Instruction& out = *result;
  out.offset = static_cast<std::uint32_t>(offset);
  const bool is_compacted = get<gen9_layout.cmpt_ctrl>(word) != 0;
  out.length = is_compacted ? compacted : full;
  if (bytes.size() < out.length)
    return error("instruction at byte {:#x}: expected 16 bytes, {} are left in the kernel", offset,
                 bytes.size());

  const auto number = static_cast<unsigned>(get<gen9_layout.opcode>(word));
  const std::size_t row = opcode_by_number[number];
  if (row == opcode_count || !exists_on(static_cast<Opcode>(row), family))
    return error("instruction at byte {:#x}: opcode {:#x} (bits 6:0) is not defined on {}: {}", offset,
                 number, info(family).name, hex(bytes.first(out.length)));
  out.opcode = static_cast<Opcode>(row);
  const OpcodeInfo& op = opcode_table[row];
  if (!is_compacted) {
    std::memcpy(&word.high, bytes.data() + 8, 8);
  } else if (has_compacted_form(op.format, family)) {
    word = expand(word.low, op.format);
  } else {
    return error("instruction at byte {:#x}: {} has no compacted form on {}: {}", offset, op.name,
                 info(family).name, hex(bytes.first(out.length)));
  }

  Undefined undefined;
  if (!decode_word(word, out, family, undefined))
    return error("instruction at byte {:#x}: {}: {} {:#x} (bits {}) is not defined on {}: {}", offset,
                 op.name, undefined.what, undefined.value, to_string(undefined.field), info(family).name,
                 hex(bytes.first(out.length)));
  return result;
}

}  // namespace eum::gen
