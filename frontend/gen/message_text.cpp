// One line of text for a message, worded as iga64's comments.
#include "frontend/gen/message.hpp"
#include "frontend/gen/message_table.hpp"

namespace eum::gen {

using namespace message_table;

namespace {

std::string mask_text(unsigned components) {
  std::string out;
  for (unsigned c = 0; c < 4; ++c)
    if (components >> c & 1) out += "xyzw"[c];
  return out;
}

std::string_view atomic_text(const Message& m, bool is_float) {
  const AtomicRow* row = find_atomic(is_float, m.atomic_code);
  return row ? row->text : "?";
}

std::string fence_text(const Message& m) {
  std::string out = m.commit ? "synchronized " : "";
  if (m.address == AddressModel::Slm) return out + "SLM fence";
  out += "global fence flushing";
  if (m.flush_l1) out += " L1";
  if (m.flush_l3 == 0xf) return out + " all L3 data";
  if (m.flush_l3) {
    out += " L3";
    constexpr std::string_view targets[] = {" instruction data", " texture data", " constant data",
                                            " r/w data"};
    bool first = true;
    for (unsigned bit = 4; bit-- > 0;)
      if (m.flush_l3 >> bit & 1) {
        if (!first) out += ',';
        out += targets[bit];
        first = false;
      }
  }
  return out;
}

std::string message_text(const Message& m) {
  const Row& row = rows[static_cast<std::size_t>(m.kind)];
  const std::string_view text = row.info.text;
  switch (row.layout) {
    case DescriptorLayout::OwordBlock:
    case DescriptorLayout::A64OwordBlock:
      return fmt::format("{} x{}{}", text, m.element_count, m.high_half ? "H" : "");
    case DescriptorLayout::ScratchBlock:
    case DescriptorLayout::A64HwordBlock:
      return fmt::format("{} x{}", text, m.element_count);
    case DescriptorLayout::ByteScattered:
    case DescriptorLayout::A64Byte:
      return fmt::format("{} {}b", text, m.memory_bits);
    case DescriptorLayout::A64Dword:
    case DescriptorLayout::A64Qword:
      return m.element_count == 1 ? std::string(text) : fmt::format("{} x{}", text, m.element_count);
    case DescriptorLayout::MemoryFence:
      return fence_text(m);
    case DescriptorLayout::Untyped:
    case DescriptorLayout::A64Untyped:
      return fmt::format("{} with {}", text, mask_text(m.components));
    case DescriptorLayout::Typed:
      return fmt::format("{}{} with {}", text, m.high_slots ? " (high slot group)" : "",
                         mask_text(m.components));
    case DescriptorLayout::UntypedAtomic:
    case DescriptorLayout::CounterAtomic:
      return fmt::format("{} {}", text, atomic_text(m, false));
    case DescriptorLayout::TypedAtomic:
      return fmt::format("{}{} {}", text, m.high_slots ? " (slot group high)" : "", atomic_text(m, false));
    case DescriptorLayout::A64Atomic:
      return fmt::format("{}{} {}", text, m.memory_bits, atomic_text(m, false));
    case DescriptorLayout::FloatAtomic:
    case DescriptorLayout::A64FloatAtomic:
      return fmt::format("{} {} ({}b){}", text, atomic_text(m, true), m.memory_bits,
                         m.returns ? " with return" : "");
    case DescriptorLayout::Sampler:
      return fmt::format("simd{}{} {} using sampler index {}", m.simd == 2 ? 4 : m.simd,
                         m.simd == 32  ? "/64"
                         : m.simd == 2 ? "x2"
                                       : "",
                         text_of(m.sample), m.sampler);
    default:
      return std::string(text);
  }
}

}  // namespace

std::string describe(const Message& message, Family family) {
  return fmt::format("{}; {}", function_name(static_cast<unsigned>(message.sfid), family),
                     message_text(message));
}

}  // namespace eum::gen
