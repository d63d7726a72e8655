// Prints an instruction in the syntax of iga64. It only reads Instruction; it knows no bit positions.
#include <array>
#include <bit>

#include "frontend/gen/float_text.hpp"
#include "frontend/gen/instruction.hpp"
#include "frontend/gen/operand.hpp"

namespace eum::gen {
namespace {

constexpr std::string_view predicate_text[] = {"",        "",        ".anyv",  ".allv",  ".any2h",  ".all2h",
                                               ".any4h",  ".all4h",  ".any8h", ".all8h", ".any16h", ".all16h",
                                               ".any32h", ".all32h", ".x",     ".y",     ".z",      ".w"};
constexpr std::string_view condition_text[] = {"", "eq", "ne", "gt", "ge", "lt", "le", "", "ov", "un"};

/// jmpi, call, calla, ret, brd, brc: the type of their operands is written only if it is not d.
constexpr bool is_typed_branch(Format f) {
  return f == Format::Jump || f == Format::Call || f == Format::Return || f == Format::BranchReg ||
         f == Format::BranchRegs;
}

class Printer {
 public:
  Printer(const Instruction& instruction, Family family, LabelStyle labels)
      : i_(instruction),
        family_(family),
        shape_(shape(instruction.opcode, family)),
        format_(shape_.format),
        labels_(labels) {}

  std::string run();

 private:
  void predicate();
  void mnemonic();
  void condition();
  void destination();
  void source(unsigned n);
  void immediate(const Operand& src);
  void name(const Operand& op, bool subregister);
  void indirect(const Operand& op);
  void region(const Operand& src, unsigned n);
  void source_type(const Operand& src, unsigned n);
  void label(const Target& target);
  void descriptor(const Descriptor& d, unsigned digits);
  void options();
  void swizzle(const Operand& src);

  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...);
  }
  /// Pads to `column`, with at least two spaces between items.
  void column(std::size_t at) {
    out_ += "  ";
    if (out_.size() < at) out_.append(at - out_.size(), ' ');
  }
  bool message() const { return is_send(i_.opcode); }

  const Instruction& i_;
  Family family_;
  const OpcodeShape& shape_;
  Format format_;
  LabelStyle labels_;
  std::string out_;
};

void Printer::predicate() {
  if (i_.no_mask || i_.predicated()) {
    out_ += i_.no_mask ? "(W" : "(";
    if (i_.predicated())
      put("{}{}f{}.{}{}", i_.no_mask ? "&" : "", i_.pred_inverse ? "~" : "", i_.flag_reg, i_.flag_subreg,
          predicate_text[static_cast<unsigned>(i_.pred_ctrl)]);
    out_ += ')';
  }
  if (out_.size() < 8)
    out_.append(8 - out_.size(), ' ');
  else
    out_ += ' ';
}

void Printer::mnemonic() {
  out_ += info(i_.opcode).name;
  if (i_.math != MathFunction::None) put(".{}", info(i_.math).name);
  if (i_.branch_ctrl) out_ += ".b";
  if (format_ != Format::Jump && format_ != Format::Wait && format_ != Format::Nullary)
    put(" ({}|M{})", i_.exec_size, i_.channel_offset);
}

void Printer::condition() {
  const bool early_out = is_macro(i_.math);
  if (i_.cond_mod == CondMod::None && !early_out) return;
  column(22);
  put("({})f{}.{}", early_out ? "eo" : condition_text[static_cast<unsigned>(i_.cond_mod)], i_.flag_reg,
      i_.flag_subreg);
}

void Printer::name(const Operand& op, bool subregister) {
  if (op.file == RegisterFile::Grf) {
    put("r{}", op.reg);
    if (subregister) put(".{}", op.subreg / size_of(op.type));
    return;
  }
  const ArfInfo& arf = arf_info(family_, static_cast<unsigned>(op.arf));
  if (op.arf == Arf::acc && op.reg >= 2)
    put("mme{}", op.reg - 2);
  else if (arf.numbered)
    put("{}{}", arf.name, op.reg);
  else
    out_ += arf.name;
  const unsigned element = arf.scaled ? op.subreg / size_of(op.type) : op.subreg;
  if (subregister && (arf.subregs || element != 0)) put(".{}", element);
}

void Printer::indirect(const Operand& op) {
  put("r[a0.{}", op.address_subreg);
  if (op.address_offset != 0) put(",{}", op.address_offset);
  out_ += ']';
}

void Printer::destination() {
  const Operand& dst = i_.dst;
  column(35);
  if (i_.saturate) out_ += "(sat)";
  if (dst.kind == OperandKind::Indirect) {
    indirect(dst);
  } else {
    name(dst, !message() && !dst.macro);
    if (dst.macro) out_ += dst.mme == no_mme ? std::string(".nomme") : fmt::format(".mme{}", dst.mme);
  }
  if (i_.align16 && !dst.macro) {
    if (dst.channel_enable != 0xf) {
      out_ += '.';
      if (dst.channel_enable == 0) out_ += "none";
      for (unsigned c = 0; c < 4; ++c)
        if (dst.channel_enable >> c & 1) out_ += "xyzw"[c];
    }
  }
  const bool implicit_region = message() || dst.macro || format_ == Format::Call;
  if (!implicit_region || (dst.region.hstride != 1 && (!message() || dst.kind == OperandKind::Indirect)))
    put("<{}>", dst.region.hstride);
  const Type implicit = format_ == Format::Send ? Type::ud : format_ == Format::Call ? Type::d : Type::none;
  if (dst.type != implicit || shape_.has(cap::DstType)) put(":{}", info(dst.type).name);
}

void Printer::swizzle(const Operand& src) {
  if (src.swizzle == identity_swizzle) return;
  out_ += '.';
  for (unsigned c = 0; c < 4; ++c) out_ += "xyzw"[src.swizzle >> (2 * c) & 3];
}

void Printer::region(const Operand& src, unsigned n) {
  if (is_branch(i_.opcode) || message() || src.macro) return;
  const auto [v, w, h] = src.region;
  if (i_.align16) {
    if (format_ == Format::Ternary && src.replicate)
      out_ += ".r";
    else
      swizzle(src);
    put("<{}>", format_ == Format::Ternary ? 4 : v);
  } else if (format_ == Format::Ternary) {
    // Sources 0 and 1 are <v;h>, source 2 is <h>.
    if (n < 2)
      put("<{};{}>", v, h);
    else
      put("<{}>", h);
  } else if (v == Region::vxh) {
    put("<{},{}>", w, h);
  } else {
    put("<{};{},{}>", v, w, h);
  }
}

void Printer::source_type(const Operand& src, unsigned n) {
  Type implicit = Type::none;
  if (is_typed_branch(format_))
    implicit = Type::d;
  else if (format_ == Format::Send || (format_ == Format::SendSplit && n == 0))
    implicit = Type::ud;
  if (src.type != implicit) put(":{}", info(src.type).name);
}

void Printer::immediate(const Operand& src) {
  const std::uint64_t v = src.immediate;
  switch (src.type) {
    case Type::w:
      put("{}", static_cast<std::int16_t>(v));
      break;
    case Type::d:
      put("{}", static_cast<std::int32_t>(v));
      break;
    case Type::q:
      put("{}", static_cast<std::int64_t>(v));
      break;
    case Type::hf:
      out_ += half_text(static_cast<std::uint16_t>(v));
      break;
    case Type::f:
      out_ += float_text(std::bit_cast<float>(static_cast<std::uint32_t>(v)), static_cast<std::uint32_t>(v));
      break;
    case Type::df:
      out_ += float_text(std::bit_cast<double>(v), v);
      break;
    default:
      put("0x{:X}", v);
      break;
  }
}

void Printer::source(unsigned n) {
  const Operand& src = i_.src[n];
  column(49 + 17 * n);
  if (src.kind == OperandKind::Immediate) {
    immediate(src);
    source_type(src, n);
    return;
  }
  switch (src.modifier) {
    case SourceModifier::None:
      break;
    case SourceModifier::Abs:
      out_ += "(abs)";
      break;
    case SourceModifier::Neg:
      out_ += shape_.has(cap::Logic) ? '~' : '-';
      break;
    case SourceModifier::NegAbs:
      out_ += "-(abs)";
      break;
  }
  if (src.kind == OperandKind::Indirect) {
    indirect(src);
  } else {
    name(src, !message() && !src.macro);
    if (src.macro) out_ += src.mme == no_mme ? std::string(".nomme") : fmt::format(".mme{}", src.mme);
  }
  region(src, n);
  source_type(src, n);
}

void Printer::label(const Target& target) {
  column(49);
  if (labels_ == LabelStyle::Numeric)
    put("{}", static_cast<std::int32_t>(target.offset - (i_.opcode == Opcode::calla ? 0 : i_.offset)));
  else if (target.offset < 0)
    put("L_N{}", -target.offset);
  else
    put("L{}", target.offset);
  if (target.type != Type::d) put(":{}", info(target.type).name);
}

void Printer::descriptor(const Descriptor& d, unsigned digits) {
  out_ += "  ";
  if (d.is_register)
    put("a0.{}", d.address_subreg);
  else
    put("0x{:0{}X}", d.value, digits);
}

void Printer::options() {
  std::string list;
  const auto add = [&](bool on, std::string_view text) {
    if (!on) return;
    list += list.empty() ? "" : ",";
    list += text;
  };
  add(i_.acc_wr_en, "AccWrEn");
  add(i_.thread_ctrl == ThreadCtrl::Atomic, "Atomic");
  add(i_.debug_ctrl, "Breakpoint");
  add(i_.compacted(), "Compacted");
  add(i_.send.eot, "EOT");
  add(i_.no_dd_chk, "NoDDChk");
  add(i_.no_dd_clr, "NoDDClr");
  add(i_.thread_ctrl == ThreadCtrl::NoPreempt, "NoPreempt");
  add(i_.send.no_src_dep_set, "NoSrcDepSet");
  add(i_.thread_ctrl == ThreadCtrl::Switch, "Switch");
  add(i_.align16, "Align16");
  if (!list.empty()) put(" {{{}}}", list);
}

std::string Printer::run() {
  predicate();
  mnemonic();
  if (format_ != Format::Nullary) {
    condition();
    if (i_.has_dst) destination();
    for (unsigned n = 0; n < i_.source_count; ++n) source(n);
    if (i_.jip.present) label(i_.jip);
    if (i_.uip.present) label(i_.uip);
    if (message()) {
      descriptor(i_.send.ex_desc, 1);
      descriptor(i_.send.desc, 8);
    }
  }
  options();
  return std::move(out_);
}

}  // namespace

std::string print(const Instruction& instruction, Family family, LabelStyle labels) {
  if (!instruction.align16) return Printer(instruction, family, labels).run();
  const Result<Instruction> align1 = align1_form(instruction, family);
  return Printer(align1 ? *align1 : instruction, family, labels).run();
}

}  // namespace eum::gen
