#include "tests/runtime/reencode.hpp"

#include <fmt/format.h>

#include "frontend/gen/message.hpp"
#include "tests/frontend/gen/encode.hpp"

namespace eum::test {
namespace {

using namespace gen;

constexpr Family from = Family::Gen8;
constexpr unsigned acc_channels = 8;  // channels of a dword accumulator

bool is_dword(Type type) { return type == Type::d || type == Type::ud; }
bool is_word(Type type) { return type == Type::w || type == Type::uw; }

/// The part of an operand for channels `first` to `first` + 7.
Operand eight_of(Operand op, unsigned first, bool destination) {
  if (op.kind != OperandKind::Direct) return op;
  const Region& r = op.region;
  const unsigned element =
      destination ? first * r.hstride : first / r.width * r.vstride + first % r.width * r.hstride;
  const unsigned byte = op.byte_address(32) + element * size_of(op.type);
  op.reg = static_cast<std::uint8_t>(byte / 32);
  op.subreg = static_cast<std::uint8_t>(byte % 32);
  return op;
}

/// A product of dwords, eight channels at a time: mach leaves its low half in the accumulator.
std::vector<Instruction> product_of_dwords(const Instruction& in) {
  std::vector<Instruction> out;
  const unsigned lanes = std::min<unsigned>(in.exec_size, acc_channels);
  Operand acc;
  acc.kind = OperandKind::Direct;
  acc.file = RegisterFile::Arf;
  acc.arf = Arf::acc;
  acc.type = in.src[0].type;
  acc.region = lanes == 1 ? Region{0, 1, 1} : Region{8, 8, 1};
  for (unsigned first = 0; first < in.exec_size; first += lanes) {
    Instruction step = in;
    step.exec_size = static_cast<std::uint8_t>(lanes);
    step.channel_offset = static_cast<std::uint8_t>(in.channel_offset + first);
    for (Operand& src : step.src) src = eight_of(src, first, false);
    step.dst = eight_of(step.dst, first, true);
    Instruction mul = step;
    mul.pred_ctrl = PredCtrl::None;
    mul.pred_inverse = false;
    mul.cond_mod = CondMod::None;
    mul.dst = acc;
    out.push_back(mul);
    Instruction mach = mul;
    mach.opcode = Opcode::mach;
    mach.dst.kind = OperandKind::Null;
    mach.dst.arf = Arf::null;
    mach.acc_wr_en = true;
    out.push_back(mach);
    Instruction mov = step;
    mov.opcode = Opcode::mov;
    mov.source_count = 1;
    mov.src[0] = acc;
    if (lanes == 1) mov.src[0].region = {0, 1, 0};
    out.push_back(mov);
  }
  return out;
}

/// The replacement of a mul, for families whose mul reads source 1 as a word; empty if there is none.
std::vector<Instruction> product(Instruction in) {
  const auto fits = [](const Operand& op) {
    return is_word(op.type) || size_of(op.type) == 1 || (op.is_immediate() && op.immediate < 0x10000);
  };
  if (is_float(in.dst.type) || is_float(in.src[0].type) || fits(in.src[1])) return {in};
  if (fits(in.src[0]) && !in.src[1].is_immediate()) {
    std::swap(in.src[0], in.src[1]);
    return {in};
  }
  if (in.saturate || in.acc_wr_en || in.dst.is_arf(Arf::acc) || !is_dword(in.dst.type) ||
      !is_dword(in.src[0].type) || !is_dword(in.src[1].type))
    return {};
  return product_of_dwords(in);
}

/// Changes the message descriptor to that of `to`; false if `to` has no such message.
bool translate_descriptor(Instruction& in, Family to) {
  constexpr std::uint32_t noncoherent = 253, stateless = 255, dc0 = 10, dc1 = 12, rc = 5;
  std::uint32_t desc = in.send.desc.value, sfid = in.send.ex_desc.value & 15;
  const auto field = [&](unsigned hi, unsigned lo) { return desc >> lo & ((2u << (hi - lo)) - 1); };
  const auto set = [&](unsigned hi, unsigned lo, std::uint32_t value) {
    const std::uint32_t mask = ((2u << (hi - lo)) - 1) << lo;
    desc = (desc & ~mask) | value << lo;
  };
  const bool has_binding = sfid == dc0 || sfid == dc1 || sfid == 9;
  if (has_binding && field(18, 18) == 0 && field(7, 0) == noncoherent) set(7, 0, stateless);
  if (sfid == dc0 && field(18, 18) == 1) {
    // Gen8 encodes the logarithm of the number of registers.
    if (field(13, 12) == 3) return false;
    set(13, 12, (1u << field(13, 12)) - 1);
  }
  if (sfid == dc1 && to == Family::Gen7) {
    const std::uint32_t type = field(18, 14);
    struct Row {
      std::uint32_t type, sfid, other;
    };
    constexpr Row rows[] = {{1, dc0, 5}, {2, dc0, 6}, {9, dc0, 13}, {4, rc, 4},
                            {5, rc, 5},  {6, rc, 6},  {10, rc, 10}, {13, rc, 13}};
    const Row* row = nullptr;
    for (const Row& candidate : rows)
      if (candidate.type == type) row = &candidate;
    if (row == nullptr) return false;
    set(18, 14, row->other);
    sfid = row->sfid;
    if (type == 5 || type == 13) {  // slot group: neither half is SIMD4x2
      if (field(13, 12) == 0) return false;
      set(13, 12, field(13, 12) == 2 ? 2 : 0);
    }
  }
  in.send.desc.value = desc;
  in.send.ex_desc.value = (in.send.ex_desc.value & ~15u) | sfid;
  in.send.sfid = static_cast<Sfid>(sfid);
  return true;
}

/// Translates one instruction to `to`; jump targets are adjusted later.
Result<std::vector<Instruction>> translate(const Instruction& instruction, Family to) {
  const std::string text = print(instruction, from);
  const auto refuse = [&](std::string_view why) { return error("{}: {}", why, text); };
  if (!exists_on(instruction.opcode, to)) return refuse(fmt::format("no {}", info(instruction.opcode).name));
  Instruction in = instruction;
  in.length = 16;
  if (is_send(in.opcode)) {
    if (in.send.desc.is_register) return refuse("a descriptor in a register");
    const auto message = decode_message(in, from);
    if (!message) return refuse("a message that is not decoded");
    if (message->address == AddressModel::A64) return refuse("a message with addresses of 64 bits");
    if (!translate_descriptor(in, to)) return refuse("no such message");
    if (in.src[0].is_grf()) in.src[0].region = {8, 8, 1};
    const auto again = decode_message(in, to);
    if (!again || again->access != message->access || again->simd != message->simd ||
        again->elements() != message->elements())
      return refuse("no such message");
    if (message->half_precision) return refuse("hf");
    return std::vector{in};
  }
  for (const Operand* op : {&in.dst, &in.src[0], &in.src[1], &in.src[2]}) {
    if (op->kind == OperandKind::None) continue;
    if (op->type == Type::q || op->type == Type::uq) return refuse("quadwords");
    if (op->type == Type::hf) return refuse("hf");
    // Gen7 has different regions for df, and neither family has 64-bit immediates.
    if (op->type == Type::df && (to == Family::Gen7 || op->is_immediate())) return refuse("df");
  }
  // On these families the source modifier of a bitwise instruction negates.
  if (shape(in.opcode, from).has(cap::Logic))
    for (unsigned n = 0; n < in.source_count; ++n)
      if (in.src[n].modifier != SourceModifier::None) return refuse("a complemented source");
  if (in.opcode == Opcode::math && in.src[in.source_count - 1u].is_immediate())
    return refuse("an immediate of math");
  if (in.branch_ctrl) return refuse("branch control");
  if (in.opcode == Opcode::else_) {
    if (in.jip.offset != in.uip.offset) return refuse("an else with two targets");
    in.uip = {};
  }
  if (in.opcode == Opcode::mul) {
    std::vector<Instruction> steps = product(in);
    return steps.empty() ? Result<std::vector<Instruction>>(refuse("a product"))
                         : Result<std::vector<Instruction>>(std::move(steps));
  }
  return std::vector{in};
}

}  // namespace

Result<Reencoded> reencode(std::span<const std::byte> gen8, Family to) {
  Reencoded out;
  std::vector<Instruction> instructions;
  bool is_in_product = false;  // the accumulator holds the first part of one
  for (std::size_t at = 0; at < gen8.size();) {
    const auto decoded = decode(gen8, at, from);
    if (!decoded) return decoded.error();
    const auto steps = translate(*decoded, to);
    if (!steps) return steps.error();
    if (is_in_product && steps->size() > 1)
      return error("a product within another: {}", print(*decoded, from));
    is_in_product = decoded->opcode != Opcode::mach && (is_in_product || decoded->dst.is_arf(Arf::acc));
    out.offsets[static_cast<std::uint32_t>(at)] = static_cast<std::uint32_t>(16 * instructions.size());
    instructions.insert(instructions.end(), steps->begin(), steps->end());
    at += decoded->length;
  }
  out.offsets[static_cast<std::uint32_t>(gen8.size())] = static_cast<std::uint32_t>(16 * instructions.size());
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    Instruction& in = instructions[i];
    in.offset = static_cast<std::uint32_t>(16 * i);
    for (Target* target : {&in.jip, &in.uip}) {
      if (!target->present) continue;
      const auto place = out.offsets.find(static_cast<std::uint32_t>(target->offset));
      if (place == out.offsets.end()) return error("a branch into an instruction: {}", print(in, to));
      const std::uint32_t base = in.opcode == Opcode::jmpi ? in.next() : in.offset;
      target->offset = place->second;
      target->raw = static_cast<std::int32_t>(place->second - base);
    }
    const auto word = gen::test::encode(in, to);
    out.code.insert(out.code.end(), word.begin(), word.end());
  }
  // Comparing the texts shows whether anything has been lost.
  for (const Instruction& in : instructions) {
    const auto decoded = decode(out.code, in.offset, to);
    if (!decoded) return error("{}: {}", decoded.error().message, print(in, to));
    if (print(*decoded, to) != print(in, to))
      return error("expected {}, found {}", print(in, to), print(*decoded, to));
  }
  return out;
}

}  // namespace eum::test
