// Doubles of families whose channels have 32 bits: "in Align1 mode, all regioning parameters like stride,
// execution size and width use the syntax of a pair of packed floats" (IVB PRM volume 4 part 3, special
// requirements for double precision; 1.3 in brief). In one place, so that lowering and rules agree.
#include "frontend/gen/instruction.hpp"

namespace eum::gen {
namespace {

Error inconvertible(const Instruction& i, const char* operand, const char* why) {
  return error("instruction at byte {:#x}: {}: {}: {}", i.offset, info(i.opcode).name, operand, why);
}

/// Reduces a source to the elements of even channels. Of types other than df, each pair contributes one
/// element.
const char* even_channels(Operand& src, unsigned exec_size) {
  Region& r = src.region;
  if (r.vstride == Region::vxh) return "addresses of its own for each row of doubles";
  if (src.type != Type::df) {
    r = r.width == 1 ? Region{static_cast<std::uint8_t>(2 * r.vstride), 1, 0}
                     : Region{r.vstride, static_cast<std::uint8_t>(r.width / 2),
                              static_cast<std::uint8_t>(2 * r.hstride)};
    return nullptr;
  }
  const bool one_row = r.width >= exec_size;
  const bool packed = r.width == 1 ? r.vstride == 1 : r.hstride == 1 && (one_row || r.vstride % 2 == 0);
  if (!packed) return "a region that takes doubles apart";
  if (r.width == 1 || one_row)
    r = {1, 1, 0};
  else
    r = {static_cast<std::uint8_t>(r.vstride / 2), static_cast<std::uint8_t>(r.width / 2), 1};
  return nullptr;
}

const char* even_channels(Operand& dst) {
  if (dst.type != Type::df)
    dst.region.hstride = static_cast<std::uint8_t>(2 * dst.region.hstride);
  else if (dst.region.hstride != 1)
    return "a stride that takes doubles apart";
  return nullptr;
}

}  // namespace

Result<Instruction> whole_doubles(const Instruction& instruction, Family family) {
  const auto is_double = [](const Operand& op) { return op.type == Type::df; };
  bool any = instruction.has_dst && is_double(instruction.dst);
  for (unsigned n = 0; n < instruction.source_count; ++n) any |= is_double(instruction.src[n]);
  if (!any || is_send(instruction.opcode) || !info(family).has(trait::PairedDoubles)) return instruction;
  Instruction i = instruction;
  if (i.exec_size == 1) return inconvertible(i, "execution size 1", "it takes a double apart");
  static constexpr const char* names[] = {"source 0", "source 1", "source 2"};
  for (unsigned n = 0; n < i.source_count; ++n) {
    Operand& src = i.src[n];
    if (src.is_null() || src.is_immediate()) continue;
    // Rows of Align16 are 16 bytes, whatever the type.
    const char* why = !i.align16             ? even_channels(src, i.exec_size)
                      : src.type == Type::df ? nullptr
                                             : "other than doubles in Align16";
    if (why != nullptr) return inconvertible(i, names[n], why);
  }
  if (i.has_dst && !i.dst.is_null()) {
    const char* why = !i.align16               ? even_channels(i.dst)
                      : i.dst.type == Type::df ? nullptr
                                               : "other than doubles in Align16";
    if (why != nullptr) return inconvertible(i, "destination", why);
  }
  i.exec_size /= 2;
  return i;
}

}  // namespace eum::gen
