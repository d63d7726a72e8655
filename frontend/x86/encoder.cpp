// Encodes from the form table; it must not know what an instruction does.
#include "frontend/x86/encoder.hpp"

namespace eum::x86 {
namespace {

void put(Encoded& out, unsigned byte) { out.bytes[out.length++] = static_cast<std::uint8_t>(byte); }

}  // namespace

Encoded encode(const Instruction& instruction) {
  const FormInfo& form = info(instruction.form);
  // No memory operand and no index: VEX.X, EVEX.X3 and EVEX.X4 are 1 as they are inverted, as is VEX.R beside
  // an opcode extension.
  constexpr unsigned no_x = 0x40, no_vvvv = 15u << 3, no_x4 = 4, no_v4 = 8;
  const unsigned rm = instruction.data, pp = static_cast<unsigned>(form.prefix);
  const unsigned reg = instruction.is_immediate() ? 0 : instruction.index;
  Encoded out;
  if (!exists(instruction)) return out;
  switch (form.encoding) {
    case Encoding::Legacy: {
      put(out, form.prefix == Prefix::F2 ? 0xf2 : 0xf3);
      const unsigned rex = 0x40 | (reg >> 3) << 2 | rm >> 3;
      if (rex != 0x40) put(out, rex);
      put(out, 0x0f);
      put(out, 0x38);
      break;
    }
    case Encoding::Vex:
      put(out, 0xc4);
      put(out, 0x80 | no_x | (rm < 8 ? 0x20 : 0) | 7);
      put(out, no_vvvv | pp);
      break;
    case Encoding::EvexMap4:
    case Encoding::EvexMap7:
      put(out, 0x62);
      put(out, (reg & 8 ? 0 : 0x80) | no_x | (rm & 8 ? 0 : 0x20) | (reg & 16 ? 0 : 0x10) | (rm & 16 ? 8 : 0) |
                   (form.encoding == Encoding::EvexMap4 ? 4 : 7));
      put(out, no_vvvv | no_x4 | pp);
      put(out, no_v4);
      break;
  }
  put(out, form.opcode);
  put(out, 0xc0 | (reg & 7) << 3 | (rm & 7));
  if (instruction.is_immediate())
    for (unsigned i = 0; i < 4; ++i) put(out, instruction.msr >> (8 * i));
  return out;
}

}  // namespace eum::x86
