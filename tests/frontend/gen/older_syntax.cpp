#include "tests/frontend/gen/older_syntax.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {
namespace {

std::string type_text(Type type) {
  std::string out(info(type).name);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

constexpr std::string_view predicates[] = {"",        "",        ".anyv",  ".allv",  ".any2h",  ".all2h",
                                           ".any4h",  ".all4h",  ".any8h", ".all8h", ".any16h", ".all16h",
                                           ".any32h", ".all32h", ".x",     ".y",     ".z",      ".w"};
constexpr std::string_view conditions[] = {"", "z", "nz", "g", "ge", "l", "le", "", "o", "u"};
constexpr std::string_view math_functions[] = {"",    "inv", "log",  "exp", "sqrt",      "rsq",    "sin",
                                               "cos", "",    "fdiv", "pow", "intdivmod", "intdiv", "intmod"};

std::string register_text(const Operand& op) {
  std::string out;
  const unsigned element = op.subreg / size_of(op.type);
  if (op.file == RegisterFile::Grf)
    out = fmt::format("g{}", op.reg);
  else if (op.arf == Arf::null)
    return "null";
  else
    out = fmt::format("{}{}",
                      op.arf == Arf::a     ? "a"
                      : op.arf == Arf::acc ? "acc"
                      : op.arf == Arf::f   ? "f"
                      : op.arf == Arf::n   ? "n"
                                           : "?",
                      op.reg);
  return element == 0 ? out : fmt::format("{}.{}", out, element);
}

std::string swizzle_text(std::uint8_t swizzle) {
  if (swizzle == identity_swizzle) return "";
  std::string out = ".";
  for (unsigned c = 0; c < 4; ++c) out += "xyzw"[swizzle >> (2 * c) & 3];
  const bool one = std::all_of(out.begin() + 1, out.end(), [&](char c) { return c == out[1]; });
  return one ? out.substr(0, 2) : out;
}

std::string destination(const Instruction& i) {
  std::string out = i.dst.kind == OperandKind::Indirect ? "g[a0]" : register_text(i.dst);
  out += fmt::format("<{}>", i.dst.region.hstride);
  if (i.align16 && i.dst.channel_enable != 0xf) {
    out += '.';
    for (unsigned c = 0; c < 4; ++c)
      if (i.dst.channel_enable >> c & 1) out += "xyzw"[c];
  }
  return out + type_text(i.dst.type);
}

std::string immediate(const Operand& op) {
  const std::string type = type_text(op.type);
  switch (op.type) {
    case Type::d:
      return fmt::format("{}{}", static_cast<std::int32_t>(op.immediate), type);
    case Type::w:
      return fmt::format("{}{}", static_cast<std::int16_t>(op.immediate), type);
    case Type::uw:
      return fmt::format("0x{:04x}{}", op.immediate, type);
    case Type::f:
    case Type::vf:
      return fmt::format("0x{:x}{}", op.immediate, type);
    default:
      return fmt::format("0x{:08x}{}", op.immediate, type);
  }
}

std::string source(const Instruction& i, const Operand& op, bool ternary) {
  if (op.is_immediate()) return immediate(op);
  constexpr std::string_view modifiers[] = {"", "(abs)", "-", "-(abs)"};
  std::string out(modifiers[static_cast<unsigned>(op.modifier)]);
  out += op.kind == OperandKind::Indirect ? "g[a0]" : register_text(op);
  if (op.replicate && op.subreg == 0) out += ".0";
  const auto [v, w, h] = op.region;
  if (ternary)
    out += op.replicate ? "<0,1,0>" : "<4,4,1>" + swizzle_text(op.swizzle);
  else if (i.align16)
    out += fmt::format("<{}>", v) + swizzle_text(op.swizzle);
  else
    out += fmt::format("<{},{},{}>", v, w, h);
  return out + type_text(op.type);
}

std::string options(const Instruction& i) {
  std::string out = i.align16 ? " { align16" : " { align1";
  if (i.no_mask) out += " WE_all";
  if (i.no_dd_clr || i.no_dd_chk)
    out += fmt::format(" {}{}{}", i.no_dd_clr ? "NoDDClr" : "", i.no_dd_clr && i.no_dd_chk ? "," : "",
                       i.no_dd_chk ? "NoDDChk" : "");
  // The group of channels: halves, quarters or nibbles (four channels).
  const unsigned size = i.exec_size >= 16 ? 16 : i.exec_size == 8 ? 8 : 4;
  out += fmt::format(" {}{}", i.channel_offset / size + 1, size == 16 ? 'H' : size == 8 ? 'Q' : 'N');
  if (i.thread_ctrl == ThreadCtrl::Switch) out += " switch";
  if (i.acc_wr_en) out += " AccWrEnable";
  if (i.send.eot) out += " EOT";
  return out + " };";
}

}  // namespace

std::string older_text(const Instruction& i, Family family) {
  const Format format = shape(i.opcode, family).format;
  std::string out;
  if (i.predicated())
    out = fmt::format("({}f{}.{}{}) ", i.pred_inverse ? '-' : '+', i.flag_reg, i.flag_subreg,
                      predicates[static_cast<unsigned>(i.pred_ctrl)]);
  out += info(i.opcode).name;
  if (i.saturate) out += ".sat";
  if (i.math != MathFunction::None) out += fmt::format(" {}", math_functions[static_cast<unsigned>(i.math)]);
  if (i.cond_mod != CondMod::None) {
    out += fmt::format(".{}", conditions[static_cast<unsigned>(i.cond_mod)]);
    // A sel with a condition reads no flag.
    if (i.opcode != Opcode::sel) out += fmt::format(".f{}.{}", i.flag_reg, i.flag_subreg);
  }
  out += fmt::format("({})", i.exec_size);
  if (i.has_dst) out += " " + destination(i);
  if (format == Format::Wait)  // its operand is also the destination
    out += " " + register_text(i.src[0]) + "<1>" + swizzle_text(i.src[0].swizzle) + type_text(i.src[0].type);
  for (unsigned n = 0; n < i.source_count && format != Format::Wait; ++n)
    out += " " + source(i, i.src[n], format == Format::Ternary);
  // The unused source of math is printed.
  if (format == Format::Math && i.source_count == 1) out += i.align16 ? " null<4>F" : " null<8,8,1>F";
  if (is_send(format))
    out += i.send.desc.is_register
               ? " a0<0,1,0>UD"
               : fmt::format(" 0x{:08x}", i.send.desc.value | (i.send.eot ? 1u << 31 : 0));
  if (i.jip.present) out += fmt::format(" JIP: {}", i.jip.raw);
  if (i.uip.present) out += fmt::format(" UIP: {}", i.uip.raw);
  return out + options(i);
}

std::string normalised(std::string_view older) {
  static const std::regex comment(R"(/\*.*?\*/)"), message(R"((0x[0-9a-f]{8}) [^{}0-9].*? \{)");
  // A descriptor in a0 is followed by the bits of the word that name a0.
  static const std::regex register_bits(R"((a0<0,1,0>UD) 0x[0-9a-f]{8})");
  std::string out = std::regex_replace(std::string(older), comment, "");
  if (out.find("send") != std::string::npos)
    out = std::regex_replace(std::regex_replace(out, message, "$1 {"), register_bits, "$1");
  return squeeze(out);
}

}  // namespace eum::gen::test
