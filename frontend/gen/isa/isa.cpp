// Builds forms of each row: one for each type, and one for each descriptor that selects a message.
#include "frontend/gen/isa/isa.hpp"

#include <algorithm>

#include "frontend/gen/isa/probe.hpp"
#include "frontend/gen/message_table.hpp"

namespace eum::gen {
namespace {

constexpr unsigned type_count = static_cast<unsigned>(type_table.size());
constexpr std::uint8_t dst_register = 100;
constexpr std::uint8_t src_registers[] = {10, 40, 70};

constexpr bool is_vector(Type type) { return type == Type::uv || type == Type::v || type == Type::vf; }

/// The types of `set` that the micro-op's row accepts; a math function accepts no others.
TypeSet computed_by(const ir::OpInfo& op, TypeSet set) {
  TypeSet out = 0;
  constexpr std::array<ir::Type, 11> element{ir::Type::u8,  ir::Type::s8,  ir::Type::u16, ir::Type::s16,
                                             ir::Type::u32, ir::Type::s32, ir::Type::u64, ir::Type::s64,
                                             ir::Type::f16, ir::Type::f32, ir::Type::f64};
  for (unsigned t = 0; t < type_count; ++t)
    if (set >> t & 1)
      if (ir::takes(op.types, t < element.size() ? element[t] : ir::Type::f32))
        out |= static_cast<TypeSet>(1u << t);
  return out;
}

struct MathRow {
  MathFunction function;
  ir::Op op;
};
constexpr auto math_rows = [] {
  using enum ir::Op;
  return std::array{
#define GEN_MATH(name, code, text, sources, macro, lower, op) MathRow{MathFunction::name, op},
#include "frontend/gen/math_functions.def"
#undef GEN_MATH
  };
}();

Operand general(std::uint8_t reg, Type type) {
  Operand op;
  op.kind = OperandKind::Direct;
  op.reg = reg;
  op.type = type;
  op.region = {8, 8, 1};
  return op;
}

/// The type to pair with `type` in a form: itself, or else the first type of the same kind, or of any, in
/// `set`.
Type partner(TypeSet set, Type type) {
  if (contains(set, type)) return type;
  for (unsigned t = 0; t < type_count; ++t)
    if (set >> t & 1 && !is_vector(static_cast<Type>(t)) && is_float(static_cast<Type>(t)) == is_float(type))
      return static_cast<Type>(t);
  for (unsigned t = 0; t < type_count; ++t)
    if (set >> t & 1 && !is_vector(static_cast<Type>(t))) return static_cast<Type>(t);
  return Type::none;
}

/// Whether a source is in a register, addressed by a register, or in the instruction.
enum class Form : std::uint8_t { Direct, Indirect, Immediate, ScalarRegister };
constexpr Form forms[] = {Form::Direct, Form::Indirect, Form::Immediate, Form::ScalarRegister};

void set_source(Operand& op, Form form) {
  const Type type = op.type;
  switch (form) {
    case Form::Direct:
      return;
    case Form::Indirect:
      op = {};
      op.kind = OperandKind::Indirect;
      op.region = {1, 1, 0};
      break;
    case Form::Immediate:
      op = {};
      op.kind = OperandKind::Immediate;
      op.immediate = 1;
      break;
    case Form::ScalarRegister:
      op.region = {0, 1, 0};
      return;
  }
  op.type = type;
}

/// An instruction of this row with a destination and sources of these types.
Instruction form_of(const IsaInstruction& row, Type dst, Type src, Form form) {
  Instruction in;
  in.opcode = row.opcode;
  in.math = row.math;
  in.exec_size = 8;
  const Format format = row.shape.format;
  const auto with_operands = [&](unsigned sources) {
    in.has_dst = true;
    in.dst = general(dst_register, dst);
    in.dst.region = {0, 0, 1};
    in.source_count = static_cast<std::uint8_t>(sources);
    for (unsigned i = 0; i < sources; ++i)
      in.src[i] = general(src_registers[i], is_vector(src) ? partner(row.shape.dst_types, src) : src);
    in.src[sources - 1].type = src;
    if (is_vector(src)) return set_source(in.src[sources - 1], Form::Immediate);
    set_source(in.src[form == Form::Indirect ? 0 : sources - 1], form);
  };
  const auto with_target = [&](Target& target) {
    target.present = true;
    target.offset = in.next();
    target.raw = in.length;
  };
  const auto in_register = [&](unsigned elements) {
    in.source_count = 1;
    in.src[0] = general(src_registers[0], src);
    in.src[0].region = elements == 1 ? Region{0, 1, 0} : Region{2, 2, 1};
  };
  switch (format) {
    case Format::Nullary:
    case Format::Send:
    case Format::SendSplit:
      break;
    case Format::Unary:
      with_operands(1);
      break;
    case Format::DoubleImm:
      with_operands(1);
      set_source(in.src[0], Form::Immediate);
      break;
    case Format::Binary:
      with_operands(2);
      break;
    case Format::Ternary:
      with_operands(3);
      break;
    case Format::Math:
      with_operands(info(row.math).sources);
      break;
    case Format::Branch2:
      with_target(in.uip);
      [[fallthrough]];
    case Format::Branch1:
      with_target(in.jip);
      break;
    case Format::BranchRegs:
      if (form == Form::Direct) with_target(in.uip);
      [[fallthrough]];
    case Format::BranchReg:
    case Format::Jump:
    case Format::Call:
      if (form == Form::Direct)
        with_target(in.jip);
      else
        in_register(format == Format::BranchRegs ? 2 : 1);
      if (format == Format::Call) {
        in.has_dst = true;
        in.dst = general(dst_register, dst);
        in.dst.region = {0, 0, 1};
        in.exec_size = 2;
      }
      break;
    case Format::Return:
      in_register(2);
      in.exec_size = 2;
      break;
    case Format::Wait:
      in.source_count = 1;
      in.exec_size = 1;
      in.no_mask = true;
      in.src[0] = general(0, src);
      in.src[0].region = {0, 1, 0};
      in.src[0].file = RegisterFile::Arf;
      in.src[0].arf = Arf::n;
      break;
  }
  return in;
}

/// How a destination and sources of these types are executed, in the best form; an instruction may have only
/// one of the forms.
Probed probe_types(const IsaInstruction& row, Type dst, Type src, Family family) {
  Probed best{Execution::Unsupported, {}};
  for (const CondMod condition : {CondMod::None, CondMod::ge})
    for (const Form form : forms) {
      if (condition != CondMod::None && !row.shape.has(cap::CMod)) continue;
      Instruction in = form_of(row, dst, src, form);
      in.cond_mod = condition;
      Probed found = probe(in, family);
      if (found.execution < best.execution) best = std::move(found);
      if (best.reason.empty() && best.execution == Execution::Unsupported)
        best.reason = std::move(found.reason);
      if (best.execution == Execution::Native) return best;
    }
  return best;
}

/// Determines how an instruction that is not a message is executed.
void probe_row(IsaInstruction& row, Family family) {
  bool any = false;
  Execution most = Execution::Native;
  const auto note = [&](const Probed& found, TypeSet types) {
    if (found.execution == Execution::Unsupported) {
      row.unsupported |= types;
      if (row.reason.empty()) row.reason = found.reason;
      return;
    }
    any = true;
    most = std::max(most, found.execution);
  };
  TypeSet written = 0;
  for (unsigned t = 0; t < type_count; ++t) {
    const Type src = static_cast<Type>(t);
    if (!contains(row.shape.src_types, src)) continue;
    const Type dst = partner(row.shape.dst_types, src);
    written |= types(dst);
    note(probe_types(row, dst, src, family), types(src));
  }
  for (unsigned t = 0; t < type_count; ++t) {
    const Type dst = static_cast<Type>(t);
    if (!contains(row.shape.dst_types, dst) || contains(written, dst)) continue;
    note(probe_types(row, dst, partner(row.shape.src_types, dst), family), types(dst));
  }
  row.execution = any ? most : Execution::Unsupported;
  if (!any) row.unsupported = 0;
}

/// The descriptor bits of a selector's value.
std::uint32_t put(const message_table::Selector& where) {
  std::uint32_t desc = 0;
  unsigned left = where.field.width();
  for (unsigned i = 0; i < where.field.count; ++i) {
    const unsigned width = where.field.ranges[i].hi - where.field.ranges[i].lo + 1u;
    left -= width;
    desc |= (where.value >> left & static_cast<std::uint32_t>(low_mask(width))) << where.field.ranges[i].lo;
  }
  return desc;
}

IsaMessage probe_message(MessageKind kind, Family family) {
  const message_table::Row& row = message_table::rows[static_cast<std::size_t>(kind)];
  IsaMessage message{kind, Execution::Unsupported, {}};
  if (row.layout == message_table::DescriptorLayout::Unsupported) {
    message.reason = "no manual that we have shows its payload";
    return message;
  }
  const std::uint32_t selected = put(row.where);
  // Lengths of payload and response that suffice for every message, and minimal ones.
  struct Lengths {
    std::uint32_t payload, second, response;
  };
  constexpr Lengths lengths[] = {{1, 0, 0}, {1, 0, 1},  {1, 1, 0},  {2, 0, 0},  {2, 0, 4},
                                 {2, 4, 0}, {4, 0, 16}, {4, 4, 16}, {8, 0, 16}, {15, 0, 16}};
  constexpr std::uint32_t bindings[] = {0, 1, 254, 255};
  for (const std::uint32_t bti : bindings)
    for (std::uint32_t control = 0; control < 1u << 11; ++control) {
      const std::uint32_t low =
          row.info.access == Access::Signal || row.info.access == Access::End ? selected : selected | bti;
      const std::uint32_t desc = low | control << 8;
      if (!message_table::matches(row.where, desc)) continue;
      for (const Lengths& n : lengths)
        for (const unsigned form : {0u, 1u, 2u, 3u}) {
          const std::uint32_t header = form & 1;
          Instruction in;
          in.opcode = exists_on(Opcode::sends, family) ? Opcode::sends : Opcode::send;
          in.exec_size = form & 2 ? 8 : 16;
          in.has_dst = true;
          in.dst = general(dst_register, Type::ud);
          if (n.response == 0) in.dst.kind = OperandKind::Null;
          in.source_count = in.opcode == Opcode::sends ? 2 : 1;
          in.src[0] = general(src_registers[0], Type::ud);
          in.src[1] = general(src_registers[1], Type::ud);
          if (n.second == 0) in.src[1].kind = OperandKind::Null;
          in.send.sfid = row.info.sfid;
          in.send.eot = row.info.access == Access::End;
          in.send.ex_desc.value = static_cast<std::uint32_t>(row.info.sfid) | n.second << 6;
          if (in.send.eot) in.send.ex_desc.value |= 1u << 5;
          in.send.desc.value = desc | n.payload << 25 | n.response << 20 | header << 19;
          const auto decoded = decode_message(in, family);
          if (!decoded || decoded->kind != kind) continue;
          Probed found = probe(in, family);
          if (found.execution < message.execution) {
            message.execution = found.execution;
            message.reason.clear();
          }
          if (message.execution == Execution::Native) return message;
          if (message.reason.empty()) message.reason = std::move(found.reason);
        }
    }
  return message;
}

/// Records the operations of the sampler that fault.
void probe_sampler(IsaMessage& message, Family family) {
  std::string faults;
  for (const message_table::SampleRow& row : message_table::samples) {
    if (!row.families.contains(family)) continue;
    // SIMD8 or 32/64 with a header, and registers for the largest number of parameters.
    constexpr std::uint32_t simd8 = 1, wide = 3, payload = 11, response = 8;
    Instruction in;
    in.opcode = Opcode::send;
    in.exec_size = 8;
    in.has_dst = true;
    in.dst = general(dst_register, Type::ud);
    in.source_count = 1;
    in.src[0] = general(src_registers[0], Type::ud);
    in.send.sfid = Sfid::smpl;
    in.send.ex_desc.value = static_cast<std::uint32_t>(Sfid::smpl);
    in.send.desc.value = payload << 25 | response << 20 | 1u << 19 | (row.wide ? wide : simd8) << 17 |
                         std::uint32_t{row.code} << 12;
    const Probed found = probe(in, family);
    if (found.execution != Execution::Unsupported) continue;
    if (message.reason.empty()) message.reason = found.reason;
    faults += (faults.empty() ? "" : ", ") + std::string(mem::image::info(row.op).name);
  }
  if (!faults.empty()) message.reason = fmt::format("fault with {}: {}", faults, message.reason);
}

}  // namespace

Isa instruction_set(Family family) {
  Isa isa;
  Execution messages = Execution::Unsupported;
  for (std::size_t i = 0; i < message_table::rows.size(); ++i) {
    const auto kind = static_cast<MessageKind>(i);
    if (!info(kind).families.contains(family)) continue;
    isa.messages.push_back(probe_message(kind, family));
    if (info(kind).access == Access::Sample) probe_sampler(isa.messages.back(), family);
    messages = std::min(messages, isa.messages.back().execution);
  }
  for (std::size_t i = 0; i < opcode_count; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (!exists_on(opcode, family)) continue;
    IsaInstruction row;
    row.opcode = opcode;
    row.shape = shape(opcode, family);
    row.text = info(opcode).name;
    const auto add = [&] {
      if (is_send(opcode)) {
        row.execution = messages;  // the messages record which of them fault
      } else {
        probe_row(row, family);
      }
      isa.instructions.push_back(row);
    };
    if (row.shape.format != Format::Math) {
      add();
      continue;
    }
    for (const MathRow& function : math_rows) {
      row.math = function.function;
      row.text = fmt::format("{}.{}", info(opcode).name, info(function.function).name);
      row.shape.src_types = computed_by(ir::info(function.op), shape(opcode, family).src_types);
      row.shape.dst_types = computed_by(ir::info(function.op), shape(opcode, family).dst_types);
      add();
      row.execution = Execution::Unsupported;
      row.unsupported = 0;
      row.reason.clear();
    }
  }
  return isa;
}

std::string_view name(Execution execution) {
  constexpr std::string_view names[] = {"native", "helper", "expanded", "unsupported"};
  return names[static_cast<std::size_t>(execution)];
}

std::string_view operands_of(Format format) {
  switch (format) {
    case Format::Nullary:
      return "-";
    case Format::Unary:
      return "dst, src0";
    case Format::DoubleImm:
      return "dst, imm64";
    case Format::Binary:
    case Format::Math:
      return "dst, src0, src1";
    case Format::Ternary:
      return "dst, src0, src1, src2";
    case Format::Branch1:
      return "jip";
    case Format::Branch2:
      return "jip, uip";
    case Format::BranchReg:
      return "jip or src0";
    case Format::BranchRegs:
      return "jip, uip or src0";
    case Format::Jump:
      return "offset or src0";
    case Format::Call:
      return "dst, jip or src0";
    case Format::Return:
    case Format::Wait:
      return "src0";
    case Format::Send:
      return "dst, src0, desc";
    case Format::SendSplit:
      return "dst, src0, src1, desc";
  }
  return "";
}

std::string capabilities_of(const OpcodeShape& shape) {
  constexpr std::pair<std::uint8_t, std::string_view> names[] = {
      {cap::Pred, "pred"},     {cap::CMod, "cmod"},   {cap::Sat, "sat"},
      {cap::SrcMod, "srcmod"}, {cap::Logic, "logic"}, {cap::BranchCtl, "branchctl"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if (shape.has(bit)) text += (text.empty() ? "" : " ") + std::string(name);
  return text.empty() ? "-" : text;
}

std::string types_of(TypeSet set) {
  std::string text;
  for (unsigned t = 0; t < type_count; ++t)
    if (set >> t & 1 && static_cast<Type>(t) != Type::none)
      text += (text.empty() ? "" : " ") + std::string(type_table[t].name);
  return text.empty() ? "-" : text;
}

}  // namespace eum::gen
