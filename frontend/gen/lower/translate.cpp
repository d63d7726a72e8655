// Instructions and operands. Types, access modes and architecture registers that the EU cannot express are
// refused here; regions, flags and masks by lowering.
#include "frontend/gen/lower/translate.hpp"

#include "frontend/eu/handlers.hpp"
#include "frontend/gen/lower/align16.hpp"
#include "frontend/gen/lower/lower.hpp"

namespace eum::gen {
namespace {

/// The columns of instructions.def or math_functions.def that define the meaning.
struct Meaning {
  eu::Handler lower;
  ir::Op op;
  eu::FlowKind flow;
};

constexpr std::array<Meaning, opcode_count> meanings = [] {
  using namespace eu;
  using enum ir::Op;
  constexpr ir::Op none{};
  return std::array<Meaning, opcode_count>{
#define GEN_OP(name, text, number, families, format, dst, src, caps, lower, op, flow) \
  Meaning{&lower, op, FlowKind::flow},
#include "frontend/gen/instructions.def"
#undef GEN_OP
  };
}();

constexpr std::array<Meaning, math_table.size()> math_meanings = [] {
  using namespace eu;
  using enum ir::Op;
  std::array<Meaning, math_table.size()> table{};
  for (Meaning& row : table) row = {&lower_unsupported, ir::Op{}, FlowKind::next};
#define GEN_MATH(name, code, text, sources, macro, lower, op) table[code] = {&lower, op, FlowKind::next};
#include "frontend/gen/math_functions.def"
#undef GEN_MATH
  return table;
}();

/// The micro-op type of one element; nf computes as f.
constexpr ir::Type element_type(Type type) {
  switch (type) {
    case Type::uv:
      return ir::Type::u16;
    case Type::v:
      return ir::Type::s16;
    case Type::vf:
    case Type::nf:
      return ir::Type::f32;
    case Type::none:
      return ir::Type::u8;
    default:
      return static_cast<ir::Type>(type);
  }
}
static_assert(element_type(Type::ub) == ir::Type::u8 && element_type(Type::q) == ir::Type::s64 &&
              element_type(Type::hf) == ir::Type::f16 && element_type(Type::df) == ir::Type::f64);

constexpr eu::PackedVector packed_vector(Type type) {
  return type == Type::uv   ? eu::PackedVector::Unsigned
         : type == Type::v  ? eu::PackedVector::Signed
         : type == Type::vf ? eu::PackedVector::Float
                            : eu::PackedVector::None;
}

constexpr eu::Condition condition(CondMod c) {
  switch (c) {
    case CondMod::ov:
      return eu::Condition::ov;
    case CondMod::un:
      return eu::Condition::un;
    default:
      return static_cast<eu::Condition>(c);
  }
}
static_assert(condition(CondMod::eq) == eu::Condition::eq && condition(CondMod::le) == eu::Condition::le);

constexpr eu::Predicate predicate(PredCtrl control, bool inverse) {
  using enum eu::Predicate::Control;
  constexpr unsigned first = static_cast<unsigned>(PredCtrl::Any2H);
  const unsigned value = static_cast<unsigned>(control);
  switch (control) {
    case PredCtrl::None:
      return {};
    case PredCtrl::AnyV:
      return {AnyV, 1, 0, inverse};
    case PredCtrl::AllV:
      return {AllV, 1, 0, inverse};
    case PredCtrl::X:
    case PredCtrl::Y:
    case PredCtrl::Z:
    case PredCtrl::W:
      return {Component, 4, static_cast<std::uint8_t>(value - static_cast<unsigned>(PredCtrl::X)), inverse};
    default:
      if (value < first) return {Channel, 1, 0, inverse};
      // Any2H, All2H, Any4H, All4H, ...
      return {(value - first) % 2 == 0 ? AnyH : AllH, static_cast<std::uint8_t>(2u << (value - first) / 2), 0,
              inverse};
  }
}
static_assert(predicate(PredCtrl::All32H, false).group == 32 && predicate(PredCtrl::Any4H, false).group == 4);

/// Compilers use sizes that the manual does not list, such as lzd of 0x0:uw, with the obvious meaning; a
/// float where the manual lists integers, or vice versa, has none.
constexpr bool has_kind_of(TypeSet set, Type type) {
  return (set & (is_float(type) ? type_set::Float : type_set::Int)) != 0;
}

/// The state register of an architecture register; nothing for those that are not modelled as registers.
constexpr std::optional<eu::StateRegister> state_register(Arf arf) {
  switch (arf) {
    case Arf::acc:
      return eu::StateRegister::Accumulator;
    case Arf::a:
      return eu::StateRegister::Address;
    case Arf::cr:
      return eu::StateRegister::Control;
    case Arf::sr:
      return eu::StateRegister::State;
    case Arf::n:
      return eu::StateRegister::Notification;
    case Arf::tm:
      return eu::StateRegister::Timestamp;
    case Arf::tdr:
      return eu::StateRegister::Dependency;
    case Arf::sp:
      return eu::StateRegister::Stack;
    case Arf::dbg:
      return eu::StateRegister::Debug;
    default:
      return std::nullopt;
  }
}

class Translator {
 public:
  Translator(const Instruction& in, Family family, eu::Instruction& out)
      : in_(in), family_(family), target_(target(family)), out_(out) {}

  Result<void> run();

 private:
  const char* flow();
  std::uint32_t modes() const;
  const char* operands();
  const char* align16();
  const char* operand(const Operand& op, bool destination, eu::Operand& result) const;
  const char* architecture_register(const Operand& op, bool destination, eu::Operand& result) const;

  const Instruction& in_;
  Family family_;
  eu::Target target_;
  eu::Instruction& out_;
};

const char* Translator::architecture_register(const Operand& op, bool destination,
                                              eu::Operand& result) const {
  constexpr unsigned register_bytes = 32, flag_bytes = eu::flag_register_bits / 8;
  const unsigned byte = op.byte_address(register_bytes);
  switch (op.arf) {
    case Arf::null:
      result.kind = eu::OperandKind::Null;
      return nullptr;
    case Arf::f:
      result.kind = eu::OperandKind::Flag;
      if (op.subreg >= flag_bytes) return "region beyond the flag register";
      result.offset = eu::flag_register_bits * op.reg + 8u * op.subreg;
      return nullptr;
    case Arf::ip:
      if (destination) {
        if (in_.exec_size != 1 || size_of(op.type) != 4) return "write of ip by other than one dword";
        result.kind = eu::OperandKind::Register;
        result.offset = target_.offset(eu::StateRegister::Jump);
        return nullptr;
      }
      result.kind = eu::OperandKind::Immediate;
      result.immediate = in_.offset & (size_of(op.type) < 8 ? (1ull << 8 * size_of(op.type)) - 1 : ~0ull);
      return nullptr;
    case Arf::tm:
      // A read into null waits for messages in flight; here these have completed.
      if (!in_.dst.is_null()) break;
      result.kind = eu::OperandKind::Null;
      return nullptr;
    case Arf::ce:
      if (destination) break;
      result.kind = eu::OperandKind::ExecutionMask;
      return nullptr;
    default:
      break;
  }
  if (destination && (op.arf == Arf::n || op.arf == Arf::tm || op.arf == Arf::tdr)) {
    result.kind = eu::OperandKind::Null;  // read only; there are no threads to depend on
    return nullptr;
  }
  std::optional<eu::StateRegister> reg = state_register(op.arf);
  if (!reg) return "architecture register that is not modelled";
  // A row of Align16 is four elements.
  const Region region = destination   ? Region{op.region.hstride, 1, 0}
                        : in_.align16 ? Region{op.region.vstride, 4, 1}
                                      : op.region;
  constexpr unsigned first_macro = 2;
  if (op.arf == Arf::acc && op.reg >= first_macro) {
    // acc2 to acc9 can only be moved, as dwords.
    if (in_.opcode != Opcode::mov || size_of(op.type) != 4 || is_float(op.type))
      return "macro accumulator as other than the dwords of a move";
    reg = eu::StateRegister::MacroAccumulator;
    const unsigned at = (op.reg - first_macro) * register_bytes + op.subreg;
    if (at + eu::region_span(region, in_.exec_size, 4) > target_.bytes(*reg))
      return "region beyond the architecture register";
    result.kind = eu::OperandKind::Register;
    result.offset = target_.offset(*reg) + at;
    return nullptr;
  }
  const unsigned end = byte + eu::region_span(region, in_.exec_size, size_of(op.type));
  if (end > target_.bytes(*reg)) return "region beyond the architecture register";
  result.kind = op.arf == Arf::acc ? eu::OperandKind::Accumulator : eu::OperandKind::Register;
  result.offset = target_.offset(*reg) + byte;
  return nullptr;
}

const char* Translator::operand(const Operand& op, bool destination, eu::Operand& result) const {
  result.type = element_type(op.type);
  result.modifier = op.modifier;
  result.region = {op.region.vstride, op.region.width, op.region.hstride};
  switch (op.kind) {
    case OperandKind::None:
      return nullptr;
    case OperandKind::Null:
      result.kind = eu::OperandKind::Null;
      return nullptr;
    case OperandKind::Immediate:
      result.kind = eu::OperandKind::Immediate;
      result.packed = packed_vector(op.type);
      result.immediate = op.immediate;
      return nullptr;
    case OperandKind::Indirect:
      result.kind = eu::OperandKind::Indirect;
      result.offset = target_.offset(eu::StateRegister::Address) + eu::address_bytes * op.address_subreg;
      result.address_offset = op.address_offset;
      return nullptr;
    case OperandKind::Direct:
      break;
  }
  if (op.file == RegisterFile::Arf) return architecture_register(op, destination, result);
  result.kind = eu::OperandKind::Register;
  result.offset = op.byte_address(target_.grf_bytes);
  return nullptr;
}

const char* Translator::operands() {
  const OpcodeShape& row = shape(in_.opcode, family_);
  if (in_.has_dst && !in_.dst.is_null() && !has_kind_of(row.dst_types, in_.dst.type))
    return is_float(in_.dst.type) ? "float destination" : "integer destination";
  for (unsigned i = 0; i < in_.source_count; ++i)
    if (!in_.src[i].is_null() && !has_kind_of(row.src_types, in_.src[i].type))
      return is_float(in_.src[i].type) ? "float operand" : "integer operand";
  if (in_.has_dst)
    if (const char* reason = operand(in_.dst, true, out_.dst)) return reason;
  out_.source_count = in_.source_count;
  for (unsigned i = 0; i < in_.source_count; ++i)
    if (const char* reason = operand(in_.src[i], false, out_.src[i])) return reason;
  return in_.align16 ? align16() : nullptr;
}

const char* Translator::align16() {
  const bool ternary = shape(in_.opcode, family_).format == Format::Ternary;
  const bool plane = in_.opcode == Opcode::line || in_.opcode == Opcode::pln;
  for (unsigned i = 0; i < in_.source_count; ++i)
    if (plane && (i == 0 || in_.opcode == Opcode::pln))
      out_.src[i].region = {0, 1, 0};  // the locations of coefficients and coordinates, not regions
    else if (const char* reason = align16_source(in_.src[i], ternary, out_.src[i]))
      return reason;
  return in_.has_dst ? align16_enabled(in_.dst, out_.enabled) : nullptr;
}

/// Bits of cr0.0 that the instruction may set.
std::uint32_t Translator::modes() const {
  if (!in_.has_dst || !in_.dst.is_arf(Arf::cr) || in_.dst.subreg >= 4) return 0;
  constexpr std::uint32_t any = ~std::uint32_t{0};
  const auto bits = [](const Operand& op) {
    const bool number = op.is_immediate() && !is_float(op.type) && size_of(op.type) >= 2 &&
                        packed_vector(op.type) == eu::PackedVector::None;
    const auto low = static_cast<std::uint32_t>(op.immediate);
    return !number ? any : size_of(op.type) == 2 && (low & 0x8000) != 0 ? low | 0xffff0000 : low;
  };
  const bool updates = in_.src[0].is_arf(Arf::cr) && in_.src[0].subreg == in_.dst.subreg &&
                       in_.src[0].modifier == SourceModifier::None && in_.dst.subreg == 0;
  switch (in_.opcode) {
    case Opcode::mov:
      return bits(in_.src[0]);
    case Opcode::and_:
      return updates ? 0 : bits(in_.src[1]);
    case Opcode::or_:
    case Opcode::xor_:
      return updates ? bits(in_.src[1]) : any;
    default:
      return any;
  }
}

const char* Translator::flow() {
  using enum Opcode;
  eu::FlowKind& kind = out_.flow.kind;
  const bool to_register = !in_.jip.present;
  switch (in_.opcode) {
    case jmpi:
      kind = to_register        ? eu::FlowKind::computed_jump
             : in_.predicated() ? eu::FlowKind::jump_if
                                : eu::FlowKind::jump;
      return nullptr;
    case calla:
    case call:
      if (to_register) kind = eu::FlowKind::computed_call;
      out_.flow.absolute = in_.opcode == calla;
      return nullptr;
    case ret:
      if (in_.predicated()) kind = eu::FlowKind::return_if;
      return nullptr;
    case join:
      if (in_.predicated()) kind = eu::FlowKind::reconverge_if;
      return nullptr;
    case goto_:
      if (in_.branch_ctrl)
        kind = eu::FlowKind::goto_back;
      else if (info(family_).has(trait::GotoNamed))
        kind = eu::FlowKind::park;
      return nullptr;
    case if_:
      // JIP is then a join before UIP, where control continues if no channel is active (SKL 2a, if). An else
      // always distinguishes the two.
      if (in_.branch_ctrl) kind = eu::FlowKind::goto_;
      return nullptr;
    case brd:
      if (to_register) kind = eu::FlowKind::computed_branch;
      return nullptr;
    case brc:
      if (to_register) kind = eu::FlowKind::computed_park;
      return nullptr;
    case wait:
      return in_.src[0].is_arf(Arf::n) && in_.src[0].reg == 0 ? nullptr : "wait for no notification register";
    default:
      return nullptr;
  }
}

/// Whether dst and sources are plain operands. Messages have registers of their own; jumps with an immediate
/// target have none.
bool has_operands(const Instruction& in, Format format) {
  if (is_send(format)) return false;
  const bool may_have_target = format == Format::Jump || format == Format::Call ||
                               format == Format::BranchReg || format == Format::BranchRegs;
  return !may_have_target || !in.jip.present || in.has_dst;
}

Result<void> Translator::run() {
  const Meaning& meaning = in_.math == MathFunction::None ? meanings[static_cast<std::size_t>(in_.opcode)]
                                                          : math_meanings[static_cast<std::size_t>(in_.math)];
  out_.lower = meaning.lower;
  out_.op = meaning.op;
  if (in_.opcode == Opcode::mach && !in_.acc_wr_en && info(family_).has(trait::LowMach))
    out_.lower = &eu::lower_macl;
  if (in_.opcode == Opcode::mul && info(family_).has(trait::MulWord) && !is_float(in_.src[1].type) &&
      size_of(in_.src[1].type) == 4)
    out_.lower = &eu::lower_mul_word;
  if (shape(in_.opcode, family_).has(cap::Logic) && info(family_).has(trait::LogicNumbers))
    out_.lower = in_.opcode == Opcode::not_ ? &eu::lower_negated_not : &eu::lower_negated_logic;
  // In an else with one offset, the channels wait at that offset too.
  const Target& wait = in_.uip.present ? in_.uip : in_.jip;
  out_.flow = {meaning.flow, in_.jip.offset, wait.offset, false, in_.jip.unit};
  if (in_.has_dst && in_.dst.is_arf(Arf::ip)) out_.flow.kind = eu::FlowKind::ip_write;
  out_.breaks = in_.debug_ctrl;
  out_.modes = modes();
  for (unsigned i = 0; i < in_.source_count; ++i)
    out_.reads_clock |= in_.src[i].is_arf(Arf::tm) && !in_.dst.is_null();
  out_.padding = in_.opcode == Opcode::illegal || in_.opcode == Opcode::nop;
  out_.ip = in_.offset;
  out_.next = in_.next();
  const Format format = shape(in_.opcode, family_).format;
  if (is_send(format) && in_.send.eot) out_.flow.kind = eu::FlowKind::stop;
  if (const char* reason = flow()) return error("{}", reason);

  out_.exec_size = in_.exec_size;
  out_.channel_offset = in_.channel_offset;
  out_.no_mask = in_.no_mask;
  out_.saturate = in_.saturate;
  out_.truncates = info(family_).has(trait::DoublesToZero);
  out_.writes_accumulator = in_.acc_wr_en;
  out_.condition = condition(in_.cond_mod);
  out_.predicate = predicate(in_.pred_ctrl, in_.pred_inverse);
  out_.uses_flag = is_macro(in_.math);
  out_.flag = eu::flag_register_bits * in_.flag_reg + eu::flag_register_bits / 2 * in_.flag_subreg;
  if (is_send(format)) {
    for (std::size_t k = 0; const Descriptor* d : {&in_.send.desc, &in_.send.ex_desc})
      out_.descriptors[k++] = d->is_register ? static_cast<std::int8_t>(d->address_subreg) : std::int8_t{-1};
    return translate_message(in_, family_, out_.message);
  }
  if (!has_operands(in_, format)) return {};
  if (const char* reason = operands()) return error("{}", reason);
  return {};
}

}  // namespace

namespace {

Result<void> translate_whole(const Instruction& instruction, Family family, eu::Instruction& result) {
  if (!instruction.align16) return Translator(instruction, family, result).run();
  const Result<Instruction> form = align1_form(instruction, family);
  if (form && is_equivalent(instruction, *form)) return Translator(*form, family, result).run();
  // Swizzles and channel enables that select macro accumulators do not select channels.
  const auto names_accumulator = [](const Operand& op) {
    return op.macro || (op.is_arf(Arf::acc) && op.reg >= 2);
  };
  bool macro = instruction.has_dst && names_accumulator(instruction.dst);
  for (unsigned i = 0; i < instruction.source_count; ++i) macro |= names_accumulator(instruction.src[i]);
  const Result<void> translated = Translator(instruction, family, result).run();
  return macro && !form ? form.error() : translated;
}

}  // namespace

Result<void> translate(const Instruction& instruction, Family family, eu::Instruction& result) {
  if (!info(family).has(trait::PairedDoubles)) return translate_whole(instruction, family, result);
  const Result<Instruction> whole = whole_doubles(instruction, family);
  const Result<void> translated = translate_whole(whole ? *whole : instruction, family, result);
  if (!whole) return whole.error();
  result.paired = whole->exec_size != instruction.exec_size;
  return translated;
}

}  // namespace eum::gen
