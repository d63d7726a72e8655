#include "tests/frontend/gen/disagreements.hpp"

namespace eum::gen::test {
namespace {

using namespace family_range;
using enum Family;
using enum Verdict;

constexpr Disagreement table[] = {
    // The manual defines 128 general registers; iga64 prints r128 to r255.
    {Stricter, every, "register above r127", "general register number", ""},
    // Instructions without source modifiers: iga64 drops what the bits say.
    {Stricter, every, "source modifier where there is none", "source modifier", ""},
    // Indirect operands are in general registers (EU ISA, register-indirect addressing).
    {Stricter, every, "indirect architecture register", "register file of an indirect operand", ""},
    {Stricter, every, "destination register file", "destination register file", ""},
    // Branch offsets are of type d (EU ISA: jmpi, call, brd, brc).
    {Stricter, every, "type of a branch offset", "data type of a branch offset", ""},
    // Math macros read whole registers (EU ISA: math, madm).
    {Stricter, every, "replicated source of a math macro", "replicate control of a math macro", ""},
    {Stricter, every, "access mode of a math macro", "access mode of a math macro", ""},
    {Stricter, every, "indirect operand of a math macro", "addressing of a math macro", ""},
    // iga64 prints an immediate of 16 bits as one of 8, 32 or 64, and with no digits at all for b.
    {Stricter, since(Gen11), "16-bit immediate of another type", "data type of a 16-bit immediate", ""},
    // The manual has one form of compacted instructions; GED takes movi in it with an immediate only.
    {Looser, since(Gen11), "compacted movi with a null source", "movi", "GED error decoding instruction"},
    // iga64 has no text for Align16 that Align1 cannot express; we have.
    {Looser, every, "Align16", "", "lign16"},
    {Looser, every, "Align16", "", "ChEn"},
    {Looser, every, "Align16", "", "field DstChanEn"},
    // Align16 or indirect payloads of messages.
    {Looser, every, "Align16 or indirect payload", "send", "field Src0HorzStride"},
    {Looser, every, "Align16 or indirect payload", "send", "field Src0VertStride"},
    // iga64 prints Align1 and loses the swizzle or the channel of the predicate.
    {Text, every, "Align16 text", "Align16", ""},
};

}  // namespace

const Disagreement* find_disagreement(Verdict verdict, Family family, std::string_view ours,
                                      std::string_view theirs) {
  for (const Disagreement& row : table)
    if (row.verdict == verdict && row.families.contains(family) &&
        ours.find(row.ours) != std::string_view::npos && theirs.find(row.theirs) != std::string_view::npos)
      return &row;
  return nullptr;
}

std::string all_of(const std::vector<std::string>& errors) {
  std::string out;
  for (const std::string& e : errors) out += (out.empty() ? "" : "; ") + e;
  return out;
}

}  // namespace eum::gen::test
