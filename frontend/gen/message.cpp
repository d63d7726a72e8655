// Decodes descriptors to Message. Bits of the descriptor that mean the same in every message are read once,
// the rest by the layout named in the message's row of messages.def.
#include "frontend/gen/message.hpp"

#include "frontend/gen/message_table.hpp"
#include "frontend/gen/operand.hpp"

namespace eum::gen {

using namespace message_table;

namespace {

/// Reads one descriptor into a Message; records the field that is wrong.
class Reader {
 public:
  Reader(std::uint32_t desc, Family family, Message& out) : desc_(desc), family_(family), m_(out) {}

  bool read(const Row& row);
  const char* reason() const { return reason_; }
  const Bits& field() const { return field_; }

 private:
  std::uint32_t get(unsigned hi, unsigned lo) const { return take(desc_, bits(hi, lo)); }
  static constexpr std::uint8_t two_slots = 2;

  bool fail(const char* reason, unsigned hi, unsigned lo) {
    reason_ = reason;
    field_ = bits(hi, lo);
    return false;
  }
  void element(unsigned memory_bits, unsigned register_bits, unsigned count) {
    m_.memory_bits = static_cast<std::uint16_t>(memory_bits);
    m_.register_bits = static_cast<std::uint16_t>(register_bits);
    m_.element_count = static_cast<std::uint8_t>(count);
  }
  /// Bit `bit`: 0 is SIMD8, 1 is SIMD16.
  void simd_at(unsigned bit) { m_.simd = get(bit, bit) ? 16 : 8; }

  void bti();
  bool a64();
  bool blocks_of_owords(unsigned unit);
  bool dual_block();
  bool byte_size();
  bool channel_mask();
  bool three_simd_modes();
  bool slot_group();
  bool scratch(unsigned registers, bool is_read);
  bool atomic(bool is_float);
  bool fence();
  bool sampler();

  std::uint32_t desc_;
  Family family_;
  Message& m_;
  const char* reason_ = "";
  Bits field_;
};

void Reader::bti() {
  m_.bti = static_cast<std::uint8_t>(get(7, 0));
  m_.address = address_models[static_cast<std::size_t>(family_)][m_.bti];
}

bool Reader::a64() {
  m_.address = AddressModel::A64;
  m_.bti = static_cast<std::uint8_t>(get(7, 0));
  return m_.bti == 255 || m_.bti == 253 ||
         fail("the binding table index of an A64 message is 255 or 253", 7, 0);
}

/// Bits 10:8: one oword in the low or the high half of a register, or 2, 4 or 8 owords.
bool Reader::blocks_of_owords(unsigned unit) {
  const unsigned code = get(10, 8);
  if (code > 4) return fail("number of owords", 10, 8);
  element(128, 128, code < 2 ? 1 : 1u << (code - 1));
  m_.high_half = code == 1;
  m_.address_unit = static_cast<std::uint8_t>(unit);
  return true;
}

/// Bits 9:8: one or four owords at each of two offsets.
bool Reader::dual_block() {
  const unsigned code = get(9, 8);
  if (code != 0 && code != 2) return fail("number of owords", 9, 8);
  element(128, 128, code == 0 ? 1 : 4);
  m_.simd = two_slots;
  return true;
}

/// Bits 11:10: number of bytes at each address, each in a dword of the payload.
bool Reader::byte_size() {
  const unsigned code = get(11, 10);
  if (code > 2) return fail("data size", 11, 10);
  element(8u << code, 32, 1);
  return true;
}

/// Bits 11:8 disable components.
bool Reader::channel_mask() {
  m_.components = static_cast<std::uint8_t>(~get(11, 8) & 0xf);
  element(32, 32, 1);
  return m_.components != 0 || fail("all channels are disabled", 11, 8);
}

bool Reader::three_simd_modes() {
  const unsigned mode = get(13, 12);
  if (mode == 3) return fail("SIMD mode", 13, 12);
  m_.simd = mode == 0 ? two_slots : mode == 1 ? 16 : 8;
  return true;
}

bool Reader::slot_group() {
  const unsigned group = get(13, 12);
  if (group == 3) return fail("slot group", 13, 12);
  m_.simd = group == 0 ? two_slots : 8;
  m_.high_slots = group == 2;
  return true;
}

bool Reader::scratch(unsigned registers, bool is_read) {
  m_.address = AddressModel::Scratch;
  m_.offset = 32 * get(11, 0);
  m_.by_channel = get(16, 16);
  m_.invalidate = is_read && get(15, 15);
  element(256, 256, registers);
  return registers != 3 || fail("number of registers", 13, 12);
}

bool Reader::atomic(bool is_float) {
  const unsigned code = is_float ? get(10, 8) : get(11, 8);
  const AtomicRow* row = find_atomic(is_float, code);
  if (row == nullptr) return fail("atomic operation", is_float ? 10 : 11, 8);
  m_.atomic = row->op;
  m_.atomic_code = static_cast<std::uint8_t>(code);
  m_.returns = get(13, 13);
  element(32, 32, 1);
  // Code 0 compares and writes two dwords: 64 bits in a message of 32.
  if (!is_float && code == 0) element(64, 64, 1);
  return true;
}

bool Reader::fence() {
  m_.bti = static_cast<std::uint8_t>(get(7, 0));
  if (m_.bti != 0 && m_.bti != 254) return fail("the binding table index of a fence is 0 or 254", 7, 0);
  m_.address = m_.bti == 254 ? AddressModel::Slm : AddressModel::None;
  m_.commit = get(13, 13);
  m_.flush_l1 = get(8, 8);
  m_.flush_l3 = static_cast<std::uint8_t>(get(12, 9));
  return true;
}

bool Reader::sampler() {
  const unsigned mode = get(18, 17) | get(29, 29) << 2;
  if (mode > 3) return fail("SIMD mode", 18, 17);
  // For mode 0 the header selects SIMD8D or SIMD4x2 (BXT volume 6, message header of the sampler), in
  // families that have both.
  if (mode == 0 && !m_.header && info(family_).has(trait::Simd8D))
    return fail("SIMD8D mode is not supported", 18, 17);
  constexpr std::uint8_t modes[] = {two_slots, 8, 16, 32};
  m_.simd = modes[mode];
  const unsigned code = get(16, 12);
  const SampleRow* found = find_sample(family_, mode == 3, code);
  if (found == nullptr) return fail("sampler message", 16, 12);
  m_.sample = found->op;
  m_.sampler = static_cast<std::uint8_t>(get(11, 8));
  m_.half_precision = get(30, 30);
  const unsigned bits_each = m_.half_precision ? 16 : 32;
  element(bits_each, bits_each, 1);
  bti();
  if (m_.address != AddressModel::Bindless) m_.address = AddressModel::Surface;
  return true;
}

bool Reader::read(const Row& row) {
  constexpr unsigned in_bytes = 1, in_owords = 16;
  const bool is_read = row.info.access == Access::Read;
  switch (row.layout) {
    case DescriptorLayout::OwordBlock: {
      bti();
      // The offsets of aligned reads (to a dword) are in bytes, those of others in owords.
      const bool aligned = m_.kind == MessageKind::oword_aligned_block_read ||
                           m_.kind == MessageKind::constant_aligned_block_read ||
                           m_.kind == MessageKind::dc2_aligned_block_read;
      return blocks_of_owords(aligned ? in_bytes : in_owords);
    }
    case DescriptorLayout::OwordDualBlock:
      bti();
      m_.invalidate = is_read && get(13, 13);
      return dual_block();
    case DescriptorLayout::ByteScattered:
      bti();
      simd_at(8);
      m_.invalidate = is_read && get(13, 13);
      return byte_size();
    case DescriptorLayout::DwordScattered:
      bti();
      simd_at(8);
      m_.invalidate = is_read && get(13, 13);
      element(32, 32, 1);
      return true;
    case DescriptorLayout::ScratchBlock:
      return scratch(1u << get(13, 12), is_read);
    case DescriptorLayout::ScratchRegisters:
      return scratch(1 + get(13, 12), is_read);
    case DescriptorLayout::MemoryFence:
      return fence();
    case DescriptorLayout::Untyped:
      bti();
      return channel_mask() && three_simd_modes();
    case DescriptorLayout::A64Untyped:
      return a64() && channel_mask() && three_simd_modes();
    case DescriptorLayout::Typed:
      bti();
      return channel_mask() && slot_group();
    case DescriptorLayout::TypedHalves:
      bti();
      m_.simd = 8;
      m_.high_slots = get(13, 13);
      return channel_mask();
    case DescriptorLayout::UntypedAtomic:
    case DescriptorLayout::CounterAtomic:
    case DescriptorLayout::FloatAtomic:
      bti();
      m_.simd = get(12, 12) ? 8 : 16;
      return atomic(row.layout == DescriptorLayout::FloatAtomic);
    case DescriptorLayout::Atomic4x2:
    case DescriptorLayout::FloatAtomic4x2:
      bti();
      m_.simd = two_slots;
      return atomic(row.layout == DescriptorLayout::FloatAtomic4x2);
    case DescriptorLayout::TypedAtomic:
      bti();
      m_.simd = 8;
      m_.high_slots = get(12, 12);
      return atomic(false);
    case DescriptorLayout::A64Atomic:
      m_.simd = 8;
      if (!a64() || !atomic(false)) return false;
      if (get(12, 12)) element(64, 64, 1);
      return true;
    case DescriptorLayout::A64Atomic4x2:
      m_.simd = two_slots;
      if (!a64() || !atomic(false)) return false;
      if (get(12, 12)) element(64, 64, 1);
      return true;
    case DescriptorLayout::A64FloatAtomic:
      simd_at(12);
      return a64() && atomic(true);
    case DescriptorLayout::A64FloatAtomic4x2:
      m_.simd = two_slots;
      return a64() && atomic(true);
    case DescriptorLayout::A64DualBlock:
      m_.invalidate = is_read && get(13, 13);
      return a64() && dual_block();
    case DescriptorLayout::MediaBlock:
      bti();
      m_.vertical_stride_override = static_cast<std::uint8_t>(get(10, 8));
      element(8, 8, 1);
      return true;
    case DescriptorLayout::A64Byte:
      simd_at(12);
      m_.invalidate = is_read && get(13, 13);
      return a64() && byte_size();
    case DescriptorLayout::A64Dword:
    case DescriptorLayout::A64Qword: {
      const unsigned width = row.layout == DescriptorLayout::A64Dword ? 32 : 64;
      simd_at(12);
      m_.invalidate = is_read && get(13, 13);
      element(width, width, 1u << get(11, 10));
      return a64();
    }
    case DescriptorLayout::A64OwordBlock:
      m_.invalidate = is_read && get(13, 13);
      return a64() && blocks_of_owords(in_bytes);
    case DescriptorLayout::A64HwordBlock:
      if (get(10, 8) > 3) return fail("number of hwords", 10, 8);
      element(256, 256, 1u << get(10, 8));
      m_.invalidate = is_read && get(13, 13);
      return a64();
    case DescriptorLayout::Sampler:
      return sampler();
    case DescriptorLayout::Plain:
      return true;
    case DescriptorLayout::Unsupported:
      break;
  }
  return fail("no manual that we have shows its payload: not supported", 31, 0);
}

}  // namespace

const MessageInfo& info(MessageKind kind) { return rows[static_cast<std::size_t>(kind)].info; }
std::string_view shared_function_name(Sfid sfid, Family family) {
  const auto number = static_cast<unsigned>(sfid);
  return number < 16 ? function_name(number, family) : std::string_view{};
}

std::string_view text_of(SampleOp op) { return sample_texts[static_cast<std::size_t>(op)]; }

Result<Message> decode_message(std::uint32_t ex_desc, std::uint32_t desc, bool split, Family family) {
  const unsigned sfid = ex_desc & 0xf;
  const Span span = rows_of[sfid];
  const std::string_view function = function_name(sfid, family);
  if (span.last == 0)
    return error(
        "message of shared function {:#x} ({}), descriptor {:#x}: this shared function is not supported",
        sfid, function.empty() ? "not defined" : function, desc);

  const Row* row = nullptr;
  for (unsigned r = first_by_type[sfid][desc >> 14 & 31]; r < span.last; ++r)
    if (matches(rows[r].where, desc) && rows[r].info.families.contains(family)) {
      row = &rows[r];
      break;
    }
  if (row == nullptr) {
    const Bits& field = rows[span.first].where.field;
    return error("message of {}, descriptor {:#x}: message type {:#x} (bits {}) is not defined on {}",
                 function, desc, take(desc, field), to_string(field), info(family).name);
  }

  static constexpr Message blank{};
  Result<Message> result{blank};
  Message& m = *result;
  m.kind = static_cast<MessageKind>(row - rows.data());
  m.sfid = static_cast<Sfid>(sfid);
  m.access = row->info.access;
  m.header = desc >> 19 & 1;
  m.eot = ex_desc >> 5 & 1;
  m.length = desc >> 25 & 0xf;
  m.response_length = desc >> 20 & 0x1f;
  m.extended_length = split ? static_cast<std::uint8_t>(ex_desc >> 6 & 0xf) : std::uint8_t{0};
  // The field is in units of 64 bytes.
  m.state_offset = ex_desc >> 12 << 6;
  Reader reader(desc, family, m);
  if (!reader.read(*row))
    return error("message of {}, {}, descriptor {:#x}: {} (bits {} are {:#x})", function, row->info.text,
                 desc, reader.reason(), to_string(reader.field()), take(desc, reader.field()));
  return result;
}

Result<Message> decode_message(const Instruction& instruction, Family family) {
  const SendInfo& send = instruction.send;
  if (!is_send(instruction.opcode))
    return error("instruction at byte {:#x}: {} carries no message", instruction.offset,
                 info(instruction.opcode).name);
  if (send.desc.is_register || send.ex_desc.is_register)
    return error("instruction at byte {:#x}: {}: the {} is in a0.{} and known at run time only",
                 instruction.offset, info(instruction.opcode).name,
                 send.ex_desc.is_register ? "extended descriptor" : "descriptor",
                 send.ex_desc.is_register ? send.ex_desc.address_subreg : send.desc.address_subreg);
  Result<Message> message =
      decode_message(send.ex_desc.value, send.desc.value,
                     shape(instruction.opcode, family).format == Format::SendSplit, family);
  if (!message) return error("instruction at byte {:#x}: {}", instruction.offset, message.error().message);
  return message;
}

}  // namespace eum::gen
