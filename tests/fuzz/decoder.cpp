// The GEN decoder and the validator on any bytes: decode, print, decode the message, check; disassemble and
// check everything. The last byte selects the family, so that bare kernels are seeds.
#include "frontend/gen/check/check.hpp"
#include "frontend/gen/instruction.hpp"
#include "frontend/gen/message.hpp"

using namespace eum::gen;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto family = static_cast<Family>(data[size - 1] % family_count);
  const std::span<const std::byte> code(reinterpret_cast<const std::byte*>(data), size - 1);
  for (std::size_t offset = 0; offset <= code.size();) {
    const eum::Result<Instruction> i = decode(code, offset, family);
    offset += i ? i->length : 8;
    if (!i) continue;
    if (print(*i, family, offset % 16 ? LabelStyle::Name : LabelStyle::Numeric).empty()) __builtin_trap();
    if (i->offset + i->length > code.size()) __builtin_trap();
    if (const auto message = decode_message(*i, family); message && describe(*message, family).empty())
      __builtin_trap();
    check::check(*i, {family, check::Core::Lp});
    if (const auto align1 = align1_form(*i, family); align1 && align1->align16) __builtin_trap();
  }
  disassemble(code, family);
  if (check::check(code, {family, check::Core::Lp})) return 0;
  return 0;
}
