// Expands the fields of a 64-bit compacted word, which are the same in every encoding, to a 128-bit word.
#include "frontend/gen/compaction.hpp"

#include "frontend/gen/operand.hpp"

namespace eum::gen {
namespace {

constexpr std::uint64_t take(std::uint64_t value, unsigned hi, unsigned lo) {
  return (value >> lo) & low_mask(hi - lo + 1);
}

template <Encoding E>
InstructionWord expand_basic(std::uint64_t compact) {
  constexpr const Layout& L = EncodingData<E>::fields;
  constexpr const Compaction& C = EncodingData<E>::compaction;
  InstructionWord word;
  put<L.opcode>(word, take(compact, 6, 0));
  put<C.control>(word, compaction::controls[take(compact, 12, 8)]);
  put<C.datatype>(word, C.datatypes[take(compact, 17, 13)]);
  put<L.debug_ctrl>(word, take(compact, 7, 7));
  put<L.acc_wr_ctrl>(word, take(compact, 23, 23));
  put<L.cond_mod>(word, take(compact, 27, 24));
  put<L.dst_reg>(word, take(compact, 47, 40));
  put<L.src0_reg>(word, take(compact, 55, 48));
  put<C.source0>(word, compaction::sources[take(compact, 34, 30)]);
  const std::uint64_t subreg = compaction::subregs[take(compact, 22, 18)];
  // If source 0 or source 1 is an immediate, the fields of source 1 hold 13 bits of its value.
  if (get<L.src0_file>(word) == file_immediate || get<L.src1_file>(word) == file_immediate) {
    put<L.src0_subreg>(word, subreg >> 5);
    put<L.dst_subreg>(word, subreg);
    const std::uint64_t value = take(compact, 39, 35) << 8 | take(compact, 63, 56);
    put<L.imm32>(word, static_cast<std::uint64_t>(sign_extend(value, 13)));
  } else {
    put<L.src1_subreg>(word, subreg >> 10);
    put<L.src0_subreg>(word, subreg >> 5);
    put<L.dst_subreg>(word, subreg);
    put<C.source1>(word, compaction::sources[take(compact, 39, 35)]);
    put<L.src1_reg>(word, take(compact, 63, 56));
  }
  return word;
}

template <Encoding E>
InstructionWord expand_ternary(std::uint64_t compact) {
  constexpr const Layout& L = EncodingData<E>::fields;
  const std::uint64_t source = compaction::ternary_sources[take(compact, 11, 10)];
  InstructionWord word;
  put<L.opcode>(word, take(compact, 6, 0));
  put<bits(36, 32, 28, 8)>(word, compaction::ternary_controls[take(compact, 9, 8)]);
  put<L.debug_ctrl>(word, take(compact, 30, 30));
  put<L.saturate>(word, take(compact, 31, 31));
  put<bits(83, 83, 114, 107, 93, 86, 72, 65)>(word, source >> 19);
  put<bits(55, 37)>(word, source);
  put<L.t_dst_reg>(word, take(compact, 18, 12));
  put<L.t_src0_rep>(word, take(compact, 28, 28));
  put<L.t_src1_rep>(word, take(compact, 32, 32));
  put<L.t_src2_rep>(word, take(compact, 33, 33));
  put<L.t_src0_subreg>(word, take(compact, 36, 34));
  put<L.t_src1_subreg>(word, take(compact, 39, 37));
  put<L.t_src2_subreg>(word, take(compact, 42, 40));
  put<L.t_src0_reg>(word, take(compact, 49, 43));
  put<L.t_src1_reg>(word, take(compact, 56, 50));
  put<L.t_src2_reg>(word, take(compact, 63, 57));
  return word;
}

}  // namespace

template <Encoding E>
InstructionWord expand(std::uint64_t compact, Format format) {
  if constexpr (has_compacted_form<E>(Format::Ternary))
    if (format == Format::Ternary) return expand_ternary<E>(compact);
  return expand_basic<E>(compact);
}

#define GEN_ENCODING(name) template InstructionWord expand<Encoding::name>(std::uint64_t, Format);
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING

}  // namespace eum::gen
