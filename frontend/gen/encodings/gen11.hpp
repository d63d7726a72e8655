#pragma once
// The encoding of Gen11 (Ice Lake): as Gen9, but without Align16; three-source instructions and math macros
// are in Align1, and types have other codes. Sources: as gen8.hpp, and Mesa's brw_reg_type.c.
#include "frontend/gen/encodings/gen9.hpp"

namespace eum::gen {

template <>
struct EncodingData<Encoding::gen11> {
  static constexpr auto opcode_number = &OpcodeInfo::number;

  static constexpr Layout fields = [] {
    using enum Field;
    constexpr PartSet lacks =
        parts(Part::AccessMode, Part::Dst16, Part::DstDirect16, Part::DstIndirect16, Part::Src0In16,
              Part::Src0Direct16, Part::Src0Indirect16, Part::Src1In16, Part::Src1Direct16,
              Part::Src1Indirect16, Part::Ternary16, Part::TernaryMixed);
    return layout(EncodingData<Encoding::gen9>::fields, lacks,
                  {
                      {t1_exec_type, 35, 35},    {t1_dst_file, 36, 36},       {t1_dst_hstride, 49, 49},
                      {t1_src0_file, 43, 43},    {t1_src0_type, 66, 64},      {t1_src1_file, 44, 44},
                      {t1_src1_type, 87, 85},    {t1_src1_vstride, 89, 88},   {t1_src1_hstride, 91, 90},
                      {t1_src2_file, 45, 45},    {t1_src2_type, 108, 106},    {t1_src0_vstride, 68, 67},
                      {t1_src0_hstride, 70, 69}, {t1_src2_hstride, 112, 111}, {t1_dst_subreg, 55, 54},
                      {t1_src1_subreg, 96, 92},  {t1_src0_subreg, 75, 71},    {t1_src2_subreg, 117, 113},
                      {t1_src0_imm, 82, 67},     {t1_src2_imm, 124, 109},     {t1_dst_mme, 55, 52},
                      {t1_src0_mme, 75, 72},     {t1_src1_mme, 96, 93},       {t1_src2_mme, 117, 114},
                      {m1_dst_mme, 51, 48},      {m1_src0_mme, 67, 64},       {m1_src1_mme, 99, 96},
                  });
  }();

  static constexpr TypeCodes types = [] {
    using enum Type;
    return TypeCodes{
        .registers = TypeList(ud, d, uw, w, ub, b, uq, q, hf, f, df, nf),
        .immediates = TypeList(ud, d, uw, w, uv, v, uq, q, hf, f, df, vf),
        .ternary = TypeList(ud, d, uw, w, ub, b),
        .ternary_float = TypeList(hf, f, df, nf),
    };
  }();

  static constexpr bool branches_in_align16 = false;
  static constexpr int branch_unit = 1;
  static constexpr int jump_unit = 1;
  static constexpr MathSet math_functions = EncodingData<Encoding::gen9>::math_functions;
  static constexpr bool math_takes_immediates = true;
  static constexpr ThreadCtrlSet thread_ctrls =
      thread_ctrl_set(ThreadCtrl::None, ThreadCtrl::Atomic, ThreadCtrl::Switch, ThreadCtrl::NoPreempt);
  static constexpr ThreadCtrlSet send_thread_ctrls =
      thread_ctrl_set(ThreadCtrl::None, ThreadCtrl::Atomic, ThreadCtrl::NoPreempt);
  static constexpr bool send_has_region = false;
  static constexpr bool send_takes_arf = false;

  static constexpr Compaction compaction = [] {
    using enum Format;
    return Compaction{
        .formats = formats(Unary, Binary, Math, Return, Wait, Jump),
        .control = EncodingData<Encoding::gen9>::compaction.control,
        .datatype = EncodingData<Encoding::gen9>::compaction.datatype,
        .source0 = EncodingData<Encoding::gen9>::compaction.source0,
        .source1 = EncodingData<Encoding::gen9>::compaction.source1,
        .datatypes = compaction::datatypes_gen11,
    };
  }();
};

}  // namespace eum::gen
