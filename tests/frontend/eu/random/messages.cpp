// Descriptors are random except for the bits that select the message; payloads are valid for most messages.
#include "tests/frontend/eu/random/messages.hpp"

#include <algorithm>

#include "frontend/gen/message_table.hpp"
#include "tests/jit/world.hpp"

namespace eum::test {

using namespace gen;
using jit::test::World;

namespace {

constexpr unsigned dwords_in_register = 8;

/// Inserts the value of a selector into a descriptor.
std::uint32_t select(std::uint32_t desc, const message_table::Selector& where) {
  std::uint64_t value = where.value;
  for (unsigned n = where.field.count; n-- > 0;) {
    const auto [hi, lo] = where.field.ranges[n];
    const unsigned width = hi - lo + 1u;
    const auto mask = static_cast<std::uint32_t>(low_mask(width) << lo);
    desc = (desc & ~mask) | (static_cast<std::uint32_t>(value << lo) & mask);
    value >>= width;
  }
  return desc;
}

/// The addresses in a message's memory: random bits & `mask`, plus `base`.
struct Range {
  std::uint32_t mask, base;
};

bool is_image(MessageKind kind) {
  using enum MessageKind;
  switch (kind) {
    case media_block_read:
    case media_block_write:
    case typed_surface_read:
    case typed_surface_write:
    case typed_atomic:
    case typed_atomic_4x2:
      return true;
    default:
      return false;
  }
}

}  // namespace

Operand general(unsigned reg, Type type, unsigned subreg) {
  Operand op;
  op.kind = OperandKind::Direct;
  op.type = type;
  op.reg = static_cast<std::uint8_t>(reg);
  op.subreg = static_cast<std::uint8_t>(subreg * size_of(type));
  op.region = {8, 8, 1};
  return op;
}

Operand constant(std::uint64_t value, Type type) {
  Operand op;
  op.kind = OperandKind::Immediate;
  op.type = type;
  op.immediate = value & low_mask(8 * size_of(type));
  return op;
}

Instruction plain(Opcode opcode, unsigned lanes, const Operand& dst, std::initializer_list<Operand> sources) {
  Instruction inst;
  inst.opcode = opcode;
  inst.exec_size = static_cast<std::uint8_t>(lanes);
  inst.no_mask = true;
  inst.has_dst = true;
  inst.dst = dst;
  if (inst.dst.region.hstride == 0 || inst.dst.region.vstride != 0) inst.dst.region = {0, 1, 1};
  for (const Operand& op : sources) {
    inst.src[inst.source_count] = op;
    if (lanes == 1) inst.src[inst.source_count].region = {0, 1, 0};
    ++inst.source_count;
  }
  return inst;
}

Instruction MessageSource::end() {
  Instruction inst = plain(Opcode::send, 8, {}, {general(127, Type::ud)});
  inst.dst.kind = OperandKind::Null;
  inst.dst.file = RegisterFile::Arf;
  inst.dst.type = Type::ud;
  inst.src[0].region = {0, 1, 0};
  inst.send.sfid = Sfid::ts;
  inst.send.eot = true;
  inst.send.ex_desc.value = 0x20u | static_cast<unsigned>(Sfid::ts);
  inst.send.desc.value = 0x02000010;
  return inst;
}

Instruction MessageSource::attempt(MessageKind kind) {
  const message_table::Row& row = message_table::rows[static_cast<std::size_t>(kind)];
  Instruction inst;
  do inst.opcode = choice_.any_of({Opcode::send, Opcode::sendc, Opcode::sends, Opcode::sendsc});
  while (!exists_on(inst.opcode, family_));
  const bool split = shape(inst.opcode, family_).format == Format::SendSplit;
  inst.exec_size = choice_.any_of<std::uint8_t>({1, 8, 8, 16, 16});
  inst.channel_offset = static_cast<std::uint8_t>(choice_.one_in(3) ? 8 * choice_.below(4) : 0);
  inst.no_mask = choice_.one_in(4);
  if (choice_.one_in(4)) {
    inst.pred_ctrl = PredCtrl::Sequential;
    inst.pred_inverse = choice_.one_in(2);
    inst.flag_reg = static_cast<std::uint8_t>(choice_.below(2));
  }
  // Image messages mostly go to images, other messages to buffers; one in 40 goes to the wrong kind.
  const bool image = is_image(kind) || row.info.access == Access::Sample;
  const unsigned buffers[] =
      {World::surface, World::surface, World::indirect_surface, World::null_surface, 254, 254, 255, 253, 252},
                 images[] = {World::image, World::image, World::cut_image, World::color_image, 252};
  const unsigned table = image != choice_.one_in(40) ? images[choice_.below(std::size(images))]
                                                     : buffers[choice_.below(std::size(buffers))];
  auto desc = (static_cast<std::uint32_t>(choice_.bits()) & 0x2007ff00) | table;
  const bool scratch = row.layout == message_table::DescriptorLayout::ScratchBlock;
  if (scratch) desc = choice_.one_in(40) ? desc : desc & ~0xfffu;
  if (scratch || choice_.one_in(2)) desc |= 1u << 19;
  // A payload may be longer than the message needs, and the response length is arbitrary.
  const unsigned length = choice_.one_in(2) ? 1 + choice_.below(6) : 11;
  const unsigned response = choice_.one_in(2) ? choice_.below(9) : 8;
  desc = select(desc, row.where) | length << 25 | response << 20;
  const unsigned more = split ? choice_.below(9) : 0;
  std::uint32_t ex_desc = static_cast<std::uint32_t>(row.info.sfid) | more << 6;
  if ((desc & 0xff) == 252 && family_ >= Family::Gen9)
    ex_desc |= choice_.any_of({World::buffer_state, World::image_state, 128u}) >> 6 << 12;
  inst.send.sfid = row.info.sfid;
  inst.send.desc.value = desc;
  inst.send.ex_desc.value = ex_desc;
  inst.has_dst = true;
  inst.source_count = split ? 2 : 1;
  inst.dst = general(choice_.below(first_reserved - 16), Type::ud);
  inst.dst.region = {0, 1, 1};
  const bool write = row.info.access == Access::Write;
  if (response == 0 || (write && choice_.one_in(2))) {
    inst.dst.kind = OperandKind::Null;
    inst.dst.file = RegisterFile::Arf;
    inst.dst.reg = 0;
  }
  inst.src[0] = general(choice_.below(first_reserved - 12), Type::ud);
  inst.src[0].region = {0, 1, 0};
  inst.src[1] = general(choice_.below(first_reserved - 12), Type::ud);
  if (more == 0)
    inst.src[1].kind = OperandKind::Null, inst.src[1].file = RegisterFile::Arf, inst.src[1].reg = 0;
  return inst;
}

void MessageSource::prepare(const Instruction& send, std::vector<Instruction>& out) {
  const Result<Message> decoded = decode_message(send, family_);
  if (!decoded) return;
  const Message& m = *decoded;
  const unsigned payload = send.src[0].reg;
  const Range range = [&]() -> Range {
    const std::uint32_t low = choice_.one_in(m.access == Access::Atomic ? 12 : 3) ? 3 : 0;
    const std::uint32_t beyond = choice_.one_in(20) ? 0x400 : 0;
    switch (m.address) {
      case AddressModel::Slm:
        return {0xfc | low, 0};
      case AddressModel::Stateless:
        return choice_.one_in(3) ? Range{0x38 | beyond, World::callbacks}
                                 : Range{0xf8 | low | beyond, World::low_region};
      case AddressModel::A64:
        return {0x1f8 | low | beyond, 0};
      default:
        return {choice_.one_in(4) ? 0x7ffu : 0x3fcu | low, 0};
    }
  }();
  const bool image = is_image(m.kind);
  const std::uint32_t mask = image ? 0x1f : range.mask;
  const auto fit = [&](unsigned lanes, const Operand& to) {
    const Operand random =
        general(choice_.below(first_reserved), Type::ud, lanes == 1 ? choice_.below(8) : 0);
    out.push_back(plain(Opcode::and_, lanes, to, {random, constant(mask, Type::ud)}));
    if (range.base != 0) out.push_back(plain(Opcode::or_, lanes, to, {to, constant(range.base, Type::ud)}));
  };
  unsigned at = payload;
  const bool block = m.simd == 1;
  if (m.header) {
    out.push_back(plain(Opcode::mov, 8, general(at, Type::ud), {constant(0, Type::ud)}));
    if (block) fit(1, general(at, Type::ud, m.address == AddressModel::A64 ? 0 : 2));
    if (block && m.address_unit == 16)
      out.push_back(plain(Opcode::and_, 1, general(at, Type::ud, 2),
                          {general(at, Type::ud, 2), constant(0x3f, Type::ud)}));
    if (block && m.address == AddressModel::A64)
      out.push_back(plain(Opcode::mov, 1, general(at, Type::ud, 1), {constant(1, Type::ud)}));
    ++at;
  }
  if (block || m.access == Access::Sample) return;
  const unsigned bytes = m.address == AddressModel::A64 ? 8 : 4;
  const unsigned registers = std::max(1u, m.simd * bytes / 32u);
  for (unsigned n = 0; n < (image ? 3 : registers) && at + n < first_reserved; ++n) {
    fit(dwords_in_register, general(at + n, Type::ud));
    if (bytes == 4) continue;
    Operand high = general(at + n, Type::ud, 1);
    high.region = {0, 1, 2};
    out.push_back(plain(Opcode::mov, 4, high, {constant(1, Type::ud)}));
  }
}

std::vector<Instruction> MessageSource::of(MessageKind kind) {
  if (!info(kind).families.contains(family_)) return {};
  for (unsigned tries = 0; tries < 400; ++tries) {
    const auto send = executable(attempt(kind), family_);
    if (!send) continue;
    std::vector<Instruction> out;
    if (!choice_.one_in(16)) prepare(*send, out);
    out.push_back(*send);
    return out;
  }
  return {};
}

std::vector<Instruction> MessageSource::next() {
  for (unsigned tries = 0; tries < 20; ++tries) {
    const auto kind = static_cast<MessageKind>(choice_.below(message_table::max_rows));
    if (info(kind).access == Access::End || !info(kind).families.contains(family_)) continue;
    if (auto found = of(kind); !found.empty()) return found;
  }
  return {};
}

}  // namespace eum::test
