// One function per shape of meanings.def.
#include "frontend/visa/lower/translate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "frontend/eu/handlers.hpp"
#include "frontend/visa/form.hpp"
#include "frontend/visa/lower/translate_lsc.hpp"
#include "frontend/visa/lower/translate_message.hpp"
#include "frontend/visa/variable.hpp"

namespace eum::visa {
namespace {

/// How the operands of an instruction become those of the EU.
enum class Shape : std::uint8_t {
  Plain,       ///< destination, sources
  Addend,      ///< destination, factors, addend, which is the first source in the EU
  Division,    ///< as Plain; integers use a quotient
  Halves,      ///< the second result follows the first, in registers of its own
  TwoResults,  ///< two destinations, sources
  Macro,       ///< destination, predicate that it sets, sources
  Logic,       ///< on predicates if the destination is one, else Plain
  Boolean,     ///< as Plain, with a table in the name
  Minimum,
  Maximum,
  Compare,   ///< to a predicate or a destination
  SetFlags,  ///< predicate, source
  Note,      ///< operands are ignored
  Join,
  Goto,
  Jump,
  Switch,
  Call,
  Return,
  Barrier,
  Symbol,   ///< name, destination
  Message,  ///< translate_message.cpp
  Lsc,      ///< translate_lsc.cpp
  Refused,
};

struct Meaning {
  Opcode opcode;
  Shape shape;
  eu::Handler lower;
  ir::Op op;
};

constexpr auto meanings = [] {
  using namespace eu;
  constexpr std::array rows{
#define VISA_MEANING(opcode, shape, handler, op) Meaning{Opcode::opcode, Shape::shape, &handler, ir::Op::op},
#include "frontend/visa/lower/meanings.def"
#undef VISA_MEANING
  };
  static_assert(rows.size() == opcode_count, "meanings.def: one row an opcode");
  std::array<Meaning, opcode_count> sorted{};
  std::array<bool, opcode_count> seen{};
  for (const Meaning& row : rows) {
    const auto index = static_cast<std::size_t>(row.opcode);
    if (seen[index]) throw "meanings.def: two rows of one opcode";
    seen[index] = true;
    sorted[index] = row;
  }
  return sorted;
}();

eu::Condition condition(Condition c) {
  switch (c) {
    case Condition::eq:
      return eu::Condition::eq;
    case Condition::ne:
      return eu::Condition::ne;
    case Condition::gt:
      return eu::Condition::gt;
    case Condition::ge:
      return eu::Condition::ge;
    case Condition::lt:
      return eu::Condition::lt;
    case Condition::le:
      return eu::Condition::le;
    case Condition::None:
      break;
  }
  return eu::Condition::None;
}

class Translator {
 public:
  Translator(const Program& program, const Program::Unit& unit, std::uint32_t index, eu::Instruction& out)
      : program_(program),
        unit_(unit),
        kernel_(*unit.kernel),
        in_(kernel_.instructions[index]),
        operands_(kernel_.operands_of(in_)),
        index_(index),
        out_(out) {}

  Result<void> run();

 private:
  eu::Operand operand(const Operand& op) const { return unit_.layout.operand(kernel_, op); }
  Result<void> check_type(const Operand& op) const;
  /// Destination and sources from operand `first` on.
  Result<void> plain(unsigned first = 0);
  Result<void> sources(unsigned first);
  void predicate();
  std::uint32_t flag(const Operand& op) const { return unit_.layout.flag(op.variable); }
  Result<void> halves();
  bool is_thread_number(const Operand& op) const;
  Result<void> thread_number();
  Result<void> predicates();
  Result<void> compare();
  void join();
  void of_all_channels();
  Result<void> go_to();
  Result<void> jump();
  Result<void> switch_jump();
  Result<void> call();
  void return_from();
  Result<void> symbol();
  /// Ip of the label that is operand `k`.
  std::uint32_t target(unsigned k) const {
    return unit_.ips[kernel_.labels[operands_[k].variable].instruction];
  }

  const Program& program_;
  const Program::Unit& unit_;
  const Kernel& kernel_;
  const Instruction& in_;
  std::span<const Operand> operands_;
  std::uint32_t index_;
  eu::Instruction& out_;
};

/// Checks that the EU can compute with the operand's type; bfloats can only be moved without conversion.
Result<void> Translator::check_type(const Operand& op) const {
  const bool variable = op.kind == OperandKind::General || op.kind == OperandKind::Raw;
  const Type type = variable ? kernel_.variables[op.variable].type : op.type;
  if (is_thread_number(op)) return error("expected %hw_id in mov only");
  if (info(type).executes || op.kind == OperandKind::Predicate) return {};
  return error("expected operands that the EU computes with, found type {}", info(type).name);
}

Result<void> Translator::sources(unsigned first) {
  if (operands_.size() - first > out_.src.size())
    return error("expected at most {} sources, found {}", out_.src.size(), operands_.size() - first);
  for (std::size_t k = first; k < operands_.size(); ++k) {
    if (const Result<void> typed = check_type(operands_[k]); !typed) return typed;
    out_.src[out_.source_count++] = operand(operands_[k]);
  }
  return {};
}

Result<void> Translator::plain(unsigned first) {
  if (const Result<void> typed = check_type(operands_[first]); !typed) return typed;
  out_.dst = operand(operands_[first]);
  if (const Result<void> read = sources(first + 1); !read) return read;
  // A predicate is read as an integer with a bit for each of its elements.
  for (unsigned k = 0; k < out_.source_count; ++k) {
    if (out_.src[k].kind != eu::OperandKind::Flag) continue;
    const unsigned bits = kernel_.variables[operands_[first + 1 + k].variable].elements;
    out_.src[k].type = bits <= 8 ? ir::Type::u8 : bits <= 16 ? ir::Type::u16 : ir::Type::u32;
  }
  return {};
}

void Translator::predicate() {
  if (in_.predicate.variable == no_variable) return;
  using enum eu::Predicate::Control;
  using Combine = Predicate::Combine;
  out_.predicate.control = in_.predicate.combine == Combine::Any   ? AnyH
                           : in_.predicate.combine == Combine::All ? AllH
                                                                   : Channel;
  out_.predicate.group = in_.exec_size;
  out_.predicate.inverse = in_.predicate.inverse;
  out_.flag = unit_.layout.flag(in_.predicate.variable);
}

Result<void> Translator::halves() {
  if (const Result<void> read = plain(); !read) return read;
  out_.dst2 = out_.dst;
  if (out_.dst.kind == eu::OperandKind::Null) return {};
  if (out_.dst.kind != eu::OperandKind::Register || out_.dst.region.hstride != 1)
    return error("expected a packed destination in registers");
  const eu::Target& target = unit_.layout.target();
  out_.dst2.offset += target.registers(in_.exec_size * ir::size_of(out_.dst.type)) * target.grf_bytes;
  return {};
}

Result<void> Translator::predicates() {
  if (operands_[0].kind != OperandKind::Predicate) return plain();
  if (in_.predicate.variable != no_variable)
    return error("expected no predicate where predicates are computed");
  out_.lower = &eu::lower_flag_logic;
  out_.uses_flag = true;
  out_.flag = flag(operands_[0]);
  return sources(1);
}

Result<void> Translator::compare() {
  out_.condition = condition(in_.condition);
  if (operands_[0].kind != OperandKind::Predicate) {
    out_.flag = 0;
    return plain();
  }
  if (const Result<void> read = sources(1); !read) return read;
  out_.dst.kind = eu::OperandKind::Null;
  out_.dst.type = out_.src[0].type;
  out_.flag = flag(operands_[0]);
  return {};
}

// Channels parked at the label have reconverged when it is executed; if none is active, control goes to the
// next place where some may be parked.
void Translator::join() {
  const std::uint32_t next = unit_.next_join[index_];
  if (!unit_.joins[index_] || next == Program::no_ip) {
    out_.lower = &eu::lower_nop;
    return;
  }
  out_.flow.kind = eu::FlowKind::reconverge;
  out_.flow.jip = next;
}

// All active channels follow the decision of one.
void Translator::of_all_channels() {
  out_.exec_size = static_cast<std::uint8_t>(program_.simd());
  out_.channel_offset = 0;
  if (out_.predicated()) out_.predicate.control = eu::Predicate::Control::First;
}

Result<void> Translator::go_to() {
  const std::uint32_t to = target(0), next = unit_.next_join[index_];
  if (unit_.segments[kernel_.labels[operands_[0].variable].instruction] != unit_.segments[index_])
    return error("expected a label of the same function");
  const bool predicated = out_.predicated(), all = in_.exec_size == 1;
  // If all active channels go the same way and none are parked in between, it is a jump.
  if ((to <= out_.ip || to <= next) && (all || !predicated)) {
    out_.lower = &eu::lower_jump;
    out_.flow.kind = predicated ? eu::FlowKind::jump_if : eu::FlowKind::jump;
    out_.flow.jip = to;
    out_.no_mask = true;
    return {};
  }
  if (all) of_all_channels();
  out_.no_mask = false;
  out_.flow.kind = to <= out_.ip ? eu::FlowKind::while_ : eu::FlowKind::park;
  out_.flow.jip = to <= out_.ip ? to : next;
  out_.flow.uip = to;
  return {};
}

Result<void> Translator::jump() {
  if (unit_.segments[kernel_.labels[operands_[0].variable].instruction] != unit_.segments[index_])
    return error("expected a label of the same function");
  out_.flow.kind = out_.predicated() ? eu::FlowKind::jump_if : eu::FlowKind::jump;
  out_.flow.jip = target(0);
  out_.no_mask = true;
  return {};
}

Result<void> Translator::switch_jump() {
  if (const Result<void> typed = check_type(operands_[0]); !typed) return typed;
  out_.src[0] = operand(operands_[0]);
  out_.source_count = 1;
  out_.flow.kind = eu::FlowKind::computed_jump;
  out_.no_mask = true;
  std::vector<std::uint32_t> table;
  for (std::size_t k = 1; k < operands_.size(); ++k) table.push_back(target(static_cast<unsigned>(k)));
  if (table.empty()) return error("expected at least one label, found none");
  out_.flow.table = program_.keep(std::move(table));
  return {};
}

Result<void> Translator::call() {
  const Segment* to = program_.callee(unit_, in_);
  if (to == nullptr) return error("expected a call of a function's first place");
  out_.flow.kind = eu::FlowKind::call;
  out_.flow.jip = to->first_ip;
  out_.dst.kind = eu::OperandKind::Register;
  out_.dst.type = ir::Type::u32;
  out_.dst.offset = to->return_slot;
  out_.dst.region = {1, 1, 1};
  // A call of one channel is a call of all active ones.
  if (in_.exec_size == 1) of_all_channels();
  out_.no_mask = false;
  return {};
}

// The last return of a segment is its end; earlier returns go there.
void Translator::return_from() {
  const Segment& segment = program_.segment(unit_.segments[index_]);
  if (index_ + 1 == segment.last) {
    out_.lower = &eu::lower_nop;
    return;
  }
  const std::uint32_t next = unit_.next_join[index_];
  if (!out_.predicated() && next == segment.end_ip) {
    out_.lower = &eu::lower_jump;
    out_.flow.kind = eu::FlowKind::jump;
    out_.flow.jip = segment.end_ip;
    return;
  }
  if (in_.exec_size == 1) of_all_channels();
  out_.no_mask = false;
  out_.flow.kind = eu::FlowKind::park;
  out_.flow.jip = next;
  out_.flow.uip = segment.end_ip;
}

Result<void> Translator::symbol() {
  const std::string& name = kernel_.strings[operands_[0].variable];
  const auto found = program_.symbols().find(name);
  if (found == program_.symbols().end())
    return error("expected a symbol that the binary defines, found {}", name);
  if (const Result<void> typed = check_type(operands_[1]); !typed) return typed;
  out_.dst = operand(operands_[1]);
  out_.no_mask = true;
  out_.source_count = 1;
  out_.src[0].kind = eu::OperandKind::Immediate;
  out_.src[0].type = ir::int_type(std::min(8u, ir::size_of(out_.dst.type)), false);
  const unsigned unused = 64 - 8 * ir::size_of(out_.src[0].type);
  out_.src[0].immediate = found->second << unused >> unused;
  return {};
}

bool Translator::is_thread_number(const Operand& op) const {
  return op.kind == OperandKind::General && kernel_.place(op.variable).root == id(PredefinedVariable::hw_id);
}

/// A number that no two concurrent threads share: bits 8:0 of r0.5 (Broadwell PRM, volume 7, "Thread Payload"
/// of the GPGPU walker: FFTID).
Result<void> Translator::thread_number() {
  if (const Result<void> typed = check_type(operands_[0]); !typed) return typed;
  constexpr unsigned offset = 20, mask = 0x1ff;
  out_.lower = &eu::lower_logic;
  out_.op = ir::Op::and_;
  out_.dst = operand(operands_[0]);
  out_.source_count = 2;
  out_.src[0].kind = eu::OperandKind::Register;
  out_.src[0].type = ir::Type::u32;
  out_.src[0].offset = offset;
  out_.src[1].kind = eu::OperandKind::Immediate;
  out_.src[1].type = ir::Type::u32;
  out_.src[1].immediate = mask;
  return {};
}

Result<void> Translator::run() {
  const Meaning& meaning = meanings[static_cast<std::size_t>(in_.opcode)];
  out_.lower = meaning.lower;
  out_.op = meaning.op;
  out_.ip = unit_.ips[index_];
  out_.next = out_.ip + eu::Program::unit_bytes;
  out_.exec_size = in_.exec_size;
  out_.channel_offset = in_.channel_offset;
  out_.no_mask = in_.no_mask;
  out_.saturate = in_.saturate;
  predicate();
  if (in_.opcode == Opcode::mov && is_thread_number(operands_[1])) return thread_number();
  switch (meaning.shape) {
    case Shape::Plain:
      return plain();
    case Shape::Addend: {
      const Result<void> read = plain();
      // Factors in the finaliser's order, which determines whose NaN is propagated.
      if (read) out_.src = {out_.src[2], out_.src[1], out_.src[0], out_.src[3]};
      return read;
    }
    case Shape::Division: {
      const Result<void> read = plain();
      if (read && ir::is_int(out_.src[0].type)) out_.op = ir::Op::quot;
      return read;
    }
    case Shape::Halves:
      return halves();
    case Shape::TwoResults: {
      out_.dst2 = operand(operands_[1]);
      out_.dst = operand(operands_[0]);
      return sources(2);
    }
    case Shape::Macro:
      if (in_.predicate.variable != no_variable)
        return error("expected no predicate beside the one that is set");
      out_.dst = operand(operands_[0]);
      out_.flag = flag(operands_[1]);
      out_.uses_flag = true;
      return sources(2);
    case Shape::Logic:
      return predicates();
    case Shape::Boolean:
      out_.function = static_cast<std::uint8_t>(in_.suffix[0]);
      return plain();
    case Shape::Minimum:
    case Shape::Maximum: {
      out_.condition = meaning.shape == Shape::Minimum ? eu::Condition::lt : eu::Condition::ge;
      const Result<void> read = plain();
      // Immediates go last, which determines the result for zeros of different signs.
      if (read && out_.src[0].is_immediate()) std::swap(out_.src[0], out_.src[1]);
      return read;
    }
    case Shape::Compare:
      return compare();
    case Shape::SetFlags:
      out_.uses_flag = true;
      out_.flag = flag(operands_[0]);
      return sources(1);
    case Shape::Note:
      return {};
    case Shape::Join:
      join();
      return {};
    case Shape::Goto:
      return go_to();
    case Shape::Jump:
      return jump();
    case Shape::Switch:
      return switch_jump();
    case Shape::Call:
      return call();
    case Shape::Return:
      return_from();
      return {};
    case Shape::Barrier:
      out_.flow.kind = eu::FlowKind::wait;
      return {};
    case Shape::Symbol:
      return symbol();
    case Shape::Message:
      return translate_message(program_, unit_, index_, out_);
    case Shape::Lsc: {
      eu::LscMessage message;
      const Result<void> translated = translate_lsc(kernel_, in_, unit_.layout, message);
      if (translated) out_.lsc = program_.keep(std::move(message));
      return translated;
    }
    case Shape::Refused:
      return error("instruction that is not modelled");
  }
  return {};
}

}  // namespace

Result<void> translate(const Program& program, const Program::Unit& unit, std::uint32_t index,
                       eu::Instruction& result) {
  return Translator(program, unit, index, result).run();
}

}  // namespace eum::visa
