#pragma once
// The encoding of Gen9 (Skylake, Broxton): as Gen8, plus split sends, extended descriptors, mixed-mode
// three-source instructions. Sources: as gen8.hpp.
#include "frontend/gen/encodings/gen8.hpp"

namespace eum::gen {

template <>
struct EncodingData<Encoding::gen9> {
  static constexpr auto opcode_number = &OpcodeInfo::number;

  static constexpr Layout fields = [] {
    using enum Field;
    constexpr PartSet lacks = parts();
    return layout(EncodingData<Encoding::gen8>::fields, lacks,
                  {
                      {no_src_dep_set, 28, 28},
                      {t_src2_type, 35, 35},
                      {t_src1_type, 36, 36},
                      {t_src0_subreg_word, 84, 84},
                      {t_src1_subreg_word, 105, 105},
                      {t_src2_subreg_word, 126, 126},
                      {desc, 126, 96},
                      {ex_func_ctrl, 94, 91, 88, 85, 83, 80, 67, 64},
                      {send_src0_addr_imm, 95, 95, 72, 68},
                      {s_dst_file, 35, 35},
                      {s_src1_file, 36, 36},
                      {s_dst_type, 40, 37},
                      {s_src1_reg, 51, 44},
                      {s_ex_desc_file, 61, 61},
                      {s_dst_addr_mode, 63, 63},
                      {s_desc_file, 77, 77},
                      {s_src0_addr_mode, 79, 79},
                      {s_dst_reg, 60, 53},
                      {s_src0_reg, 76, 69},
                      {s_dst_addr_subreg, 60, 57},
                      {s_dst_addr_imm, 62, 62, 56, 52},
                      {s_src0_addr_subreg, 76, 73},
                      {s_src0_addr_imm, 78, 78, 72, 68},
                      {s_ex_desc_length, 67, 64},
                      {s_ex_func_ctrl, 95, 80},
                      {s_ex_desc_subreg, 82, 80},
                  });
  }();

  static constexpr TypeCodes types = EncodingData<Encoding::gen8>::types;

  static constexpr bool branches_in_align16 = false;
  static constexpr int branch_unit = 1;
  static constexpr int jump_unit = 1;
  static constexpr MathSet math_functions = EncodingData<Encoding::gen8>::math_functions;
  static constexpr bool math_takes_immediates = true;
  static constexpr ThreadCtrlSet thread_ctrls = EncodingData<Encoding::gen8>::thread_ctrls;
  static constexpr ThreadCtrlSet send_thread_ctrls = thread_ctrls;
  static constexpr bool send_has_region = false;
  static constexpr bool send_takes_arf = false;

  static constexpr Compaction compaction = [] {
    using enum Format;
    Compaction out = EncodingData<Encoding::gen8>::compaction;
    out.formats = formats(Unary, Binary, Ternary, Math, Return, Wait, Jump);
    return out;
  }();
};

}  // namespace eum::gen
