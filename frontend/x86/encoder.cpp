// Encodes from the form table; it must not know what an instruction does.
#include "frontend/x86/encoder.hpp"

namespace eum::x86 {
namespace {

void put(Encoded& out, unsigned byte) { out.bytes[out.length++] = static_cast<std::uint8_t>(byte); }

}  // namespace

Encoded encode(const Instruction& instruction) {
  const FormInfo& form = info(instruction.form);
  unsigned rm = instruction.data & 15u, reg = instruction.index & 15u;
  Encoded out;
  if (form.encoding == Encoding::Legacy) {
    put(out, form.prefix == Prefix::F2 ? 0xf2 : 0xf3);
    unsigned rex = 0x40 | (reg >> 3) << 2 | rm >> 3;
    if (rex != 0x40) put(out, rex);
    put(out, 0x0f);
    put(out, 0x38);
    put(out, form.opcode);
    put(out, 0xc0 | (reg & 7) << 3 | (rm & 7));
    return out;
  }
  put(out, 0xc4);
  put(out, 0xc0 | (rm < 8 ? 0x20 : 0) | 7);                 // R = X = 1 (inverted: unused), B, map 7
  put(out, 15u << 3 | static_cast<unsigned>(form.prefix));  // W = 0, vvvv = 1111, L = 0, pp
  put(out, form.opcode);
  put(out, 0xc0 | (rm & 7));
  for (unsigned i = 0; i < 4; ++i) put(out, instruction.msr >> (8 * i));
  return out;
}

}  // namespace eum::x86
