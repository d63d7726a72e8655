#include "tests/frontend/gen/disagreements.hpp"

#include <regex>

namespace eum::gen::test {
namespace {

using namespace family_range;
using enum Family;
using enum Verdict;

/// What iga64 omits or changes when it prints an Align16 instruction as Align1.
constexpr const char* align16 =
    R"(^\([^)]*\) |\.(none|r|[xyzw]+)|<[0-9;,]*>|mme[0-9]+| \{Align16\}|,Align16)";

constexpr Disagreement table[] = {
    // There are r0 to r127 (IVB PRM volume 4 part 3, 1.1); iga64 prints r128 to r255 too.
    {Stricter, every, "register above r127", "general register number", ""},
    // Instructions without source modifiers: iga64 ignores the bits.
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
    // iga64 prints a 16-bit immediate as one of 8, 32 or 64 bits, and one of type b with no digits at all.
    {Stricter, since(Gen11), "16-bit immediate of another type", "data type of a 16-bit immediate", ""},
    // The manual has one compacted format; GED accepts movi in it with an immediate only.
    {Looser, since(Gen11), "compacted movi with a null source", "movi", "GED error decoding instruction"},
    // IVB PRM volume 4 part 3, 3.3.3.5: there are acc0 and acc1; iga64 has mme0 to mme7 on every family.
    {Stricter, until(Gen7_5), "accumulator above acc1", "architecture register 0x2", "mme"},
    // The immediate of dim is a double, with type f as Mesa's brw_DIM writes it.
    {Stricter, only(Gen7_5), "immediate type of dim", "dim: immediate data type", "dim"},
    // The immediate overlaps the flag register; iga64 drops the predicate when it prints Align16 as Align1.
    {Stricter, only(Gen7_5), "predicate or condition of dim", "dim: predicate or condition", "dim"},
    // Mesa's brw_eu_compact.c compacts these on Gen7, GED does not.
    {Looser, until(Gen7_5), "compacted branch with JIP alone", "Compacted", "no compacted form"},
    // GED gives brc and brd of Gen7.5 the format of Gen8: 32-bit offsets, where UIP overlaps the flag
    // register. IGA's notes and Beignet's gen75_encoder.cpp, which ran on Haswell, have 16-bit offsets as in
    // all branches.
    {Looser, only(Gen7_5), "flag register of brc", "brc", "FlagRegNum"},
    {Text, only(Gen7_5), "16-bit offset of brd", "brd", "brd", R"( -?\d+)"},
    {Text, only(Gen7_5), "16-bit offset of brc", "brc", "brc", R"( -?\d+)"},
    // iga64 has no text for Align16 that Align1 cannot express; we do.
    {Looser, every, "Align16", "", "lign16"},
    {Looser, every, "Align16", "", "ChEn"},
    {Looser, every, "Align16", "", "field DstChanEn"},
    // Align16 or indirect payloads of messages.
    {Looser, every, "Align16 or indirect payload", "send", "field Src0HorzStride"},
    {Looser, every, "Align16 or indirect payload", "send", "field Src0VertStride"},
    // iga64 prints Align1 and loses the swizzle or the channel of the predicate.
    {Text, every, "Align16 text", "Align16", "", align16},
    // The Gen7 vectors have saturating frc; iga64 has no saturation for it.
    {Text, until(Gen7_5), "saturation of frc", "(sat)", "frc ", R"(\(sat\))"},
    // The Gen7 vectors have source modifiers on math; iga64 has none there.
    {Text, until(Gen7_5), "source modifier of math", "math.", "math.", R"(-|\(abs\))"},
    // iga64 prints the low half of the immediate of dim as a float.
    {Text, only(Gen7_5), "immediate of dim", "dim", "dim", R"( \S+:d?f\b)"},
};

}  // namespace

const Disagreement* find_disagreement(Verdict verdict, Family family, std::string_view ours,
                                      std::string_view theirs) {
  // Instructions of the other classes may be in Align16 too.
  const auto without = [&](std::string_view text, const char* what) {
    const std::string rest = std::regex_replace(std::string(text), std::regex(what), "");
    return ours.find("Align16") == std::string_view::npos ? rest
                                                          : std::regex_replace(rest, std::regex(align16), "");
  };
  for (const Disagreement& row : table)
    if (row.verdict == verdict && row.families.contains(family) &&
        ours.find(row.ours) != std::string_view::npos && theirs.find(row.theirs) != std::string_view::npos &&
        (verdict != Verdict::Text || without(ours, row.differs_in) == without(theirs, row.differs_in)))
      return &row;
  return nullptr;
}

std::string all_of(const std::vector<std::string>& errors) {
  std::string out;
  for (const std::string& e : errors) out += (out.empty() ? "" : "; ") + e;
  return out;
}

}  // namespace eum::gen::test
