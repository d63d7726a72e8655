// Translates messages: from descriptors to registers, memory and the data moved.
#include "frontend/eu/messages/message_lowering.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/gen/lower/translate.hpp"
#include "frontend/gen/message.hpp"

namespace eum::gen {
namespace {

constexpr std::array message_handlers = [] {
  using namespace eu;
  return std::array{
#define GEN_MESSAGE(kind, sfid, where, since, form, access, text, lower) MessageHandler{&lower},
#include "frontend/gen/messages.def"
  };
}();

constexpr eu::OffsetUnit offset_unit(MessageKind kind) {
  using enum MessageKind;
  switch (kind) {
    case dword_scattered_read:
    case dword_scattered_write:
    case constant_scattered_read:
      return eu::OffsetUnit::Dwords;
    case byte_scattered_read:
    case byte_scattered_write:
      return eu::OffsetUnit::Bytes;
    default:
      return eu::OffsetUnit::None;
  }
}

/// Messages that can locate their surface by the offset of its state.
constexpr bool may_be_bindless(eu::MessageHandler lower) {
  for (const eu::MessageHandler handler :
       {&eu::lower_sample, &eu::lower_typed_surface, &eu::lower_typed_atomic, &eu::lower_atomic_counter,
        &eu::lower_media_block})
    if (lower == handler) return true;
  return false;
}

constexpr std::optional<ir::MemSpace> mem_space(AddressModel model) {
  switch (model) {
    case AddressModel::Surface:
      return ir::MemSpace::Surface;
    case AddressModel::Slm:
      return ir::MemSpace::Slm;
    case AddressModel::Stateless:
      return ir::MemSpace::A32;
    case AddressModel::A64:
      return ir::MemSpace::A64;
    case AddressModel::Scratch:
      return ir::MemSpace::Scratch;
    default:
      return std::nullopt;
  }
}

Result<eu::RegisterRange> registers(const Operand& op, unsigned count, unsigned grf_bytes, const char* what) {
  if (count == 0) return eu::RegisterRange{};
  if (!op.is_grf()) return error("{} that is not in general registers", what);
  return eu::RegisterRange{op.reg * grf_bytes, static_cast<std::uint16_t>(count)};
}

}  // namespace

Result<void> translate_message(const Instruction& in, Family family, eu::Message& out) {
  const Result<Message> decoded = decode_message(in, family);
  if (!decoded) return decoded.error();
  const Message& m = *decoded;
  const unsigned grf_bytes = info(family).grf_bytes;
  if (!in.src[0].is_grf()) return error("payload that is not in general registers");
  out.lower = message_handlers[static_cast<std::size_t>(m.kind)];
  const unsigned lengths[2] = {m.length, m.extended_length};
  for (unsigned i = 0; i < 2; ++i) {
    const auto range = registers(in.src[i], lengths[i], grf_bytes, "payload");
    if (!range) return range.error();
    out.payload[i] = *range;
  }
  const auto response = registers(in.dst, in.dst.is_null() ? 0 : m.response_length, grf_bytes, "response");
  if (!response) return response.error();
  out.response = *response;
  if (out.lower == &eu::lower_unsupported_message) return {};

  if (m.address == AddressModel::Bindless && may_be_bindless(out.lower)) {
    out.image.bindless = true;
    out.state_offset = m.state_offset;
  } else if (m.address != AddressModel::None) {
    const std::optional<ir::MemSpace> space = mem_space(m.address);
    if (!space) return error("memory that is not modelled: binding table index {}", m.bti);
    out.memory.space = *space;
    if (*space == ir::MemSpace::Surface) out.memory.surface = m.bti;
  }
  out.image.surface = m.bti;
  out.image.sample = m.sample;
  out.image.sampler = m.sampler;
  out.lod_second = m.sample == mem::image::SampleOp::ld && info(family).has(trait::LodSecond);
  out.header_picks_slots = info(family).has(trait::Simd8D);
  out.image.half = m.half_precision;
  out.image.atomic = m.atomic;
  out.image.vertical_stride = m.vertical_stride_override;
  if (m.invalidate) out.memory.cache = ir::CacheHint::Invalidate;
  out.memory.atomic = m.atomic;
  out.offset = m.offset;
  out.channels = m.simd;
  out.header = m.header;
  out.write = m.access == Access::Write;
  out.returns = m.returns;
  out.by_channel = m.by_channel;
  out.high_half = m.high_half;
  out.high_slots = m.high_slots;
  out.ends_thread = m.eot;
  out.components = m.components != 0 ? m.components : static_cast<std::uint8_t>((1u << m.element_count) - 1);
  out.element_count = m.element_count;
  out.address_unit = m.address_unit;
  out.offset_unit = offset_unit(m.kind);
  out.memory_bits = m.memory_bits;
  out.register_bits = m.register_bits;
  return {};
}

}  // namespace eum::gen
