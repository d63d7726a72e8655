#pragma once
// The encoding of Gen7 (Ivy Bridge). Sources: GED (IGA), Mesa's brw_inst.h and brw_eu_compact.c, the Gen7
// vectors of the tests; for the registers, IVB PRM volume 4 part 3, 3.3.
#include "frontend/gen/encoding_data.hpp"
#include "frontend/gen/encodings/compaction_tables.hpp"

namespace eum::gen {

template <>
struct EncodingData<Encoding::gen7> {
  static constexpr auto opcode_number = &OpcodeInfo::number;

  static constexpr Layout fields = [] {
    using enum Field;
    return layout({
        {opcode, 6, 0},
        {channel_offset, 13, 12, 47, 47},
        {thread_ctrl, 15, 14},
        {pred_ctrl, 19, 16},
        {pred_inv, 20, 20},
        {exec_size, 23, 21},
        {cmpt_ctrl, 29, 29},
        {debug_ctrl, 30, 30},
        {mask_ctrl, 9, 9},
        {access_mode, 8, 8},
        {flag_subreg, 89, 89},
        {flag_reg, 90, 90},
        {dep_ctrl, 11, 10},
        {cond_mod, 27, 24},
        {math_function, 27, 24},
        {acc_wr_ctrl, 28, 28},
        {saturate, 31, 31},
        {dst_file, 33, 32},
        {dst_type, 36, 34},
        {dst_addr_mode, 63, 63},
        {dst_reg, 60, 53},
        {dst_addr_subreg, 60, 58},
        {dst_hstride, 62, 61},
        {dst_subreg, 52, 48},
        {dst_addr_imm, 57, 48},
        {dst_chan_en, 51, 48},
        {dst_subreg16, 52, 52},
        {dst_addr_imm16, 57, 52},
        {src0_file, 38, 37},
        {src0_type, 41, 39},
        {src0_mod, 78, 77},
        {src0_addr_mode, 79, 79},
        {src0_vstride, 88, 85},
        {src0_reg, 76, 69},
        {src0_addr_subreg, 76, 74},
        {src0_width, 84, 82},
        {src0_hstride, 81, 80},
        {src0_subreg, 68, 64},
        {src0_addr_imm, 73, 64},
        {src0_chan_sel, 83, 80, 67, 64},
        {src0_subreg16, 68, 68},
        {src0_addr_imm16, 73, 68},
        {src1_file, 43, 42},
        {src1_type, 46, 44},
        {src1_mod, 110, 109},
        {src1_addr_mode, 111, 111},
        {src1_vstride, 120, 117},
        {src1_reg, 108, 101},
        {src1_addr_subreg, 108, 106},
        {src1_width, 116, 114},
        {src1_hstride, 113, 112},
        {src1_subreg, 100, 96},
        {src1_addr_imm, 105, 96},
        {src1_chan_sel, 115, 112, 99, 96},
        {src1_subreg16, 100, 100},
        {src1_addr_imm16, 105, 100},
        {imm32, 127, 96},
        {t_flag_subreg, 33, 33},
        {t_flag_reg, 34, 34},
        {t_src0_mod, 37, 36},
        {t_src1_mod, 39, 38},
        {t_src2_mod, 41, 40},
        {t_dst_type, 45, 44},
        {t_dst_reg, 63, 56},
        {t_src0_reg, 83, 76},
        {t_src1_reg, 104, 97},
        {t_src2_reg, 125, 118},
        {t_src_type, 43, 42},
        {t_dst_chan_en, 52, 49},
        {t_dst_subreg, 55, 53},
        {t_src0_rep, 64, 64},
        {t_src0_chan_sel, 72, 65},
        {t_src0_subreg, 75, 73},
        {t_src1_rep, 85, 85},
        {t_src1_chan_sel, 93, 86},
        {t_src1_subreg, 96, 94},
        {t_src2_rep, 106, 106},
        {t_src2_chan_sel, 114, 107},
        {t_src2_subreg, 117, 115},
        {sfid, 27, 24},
        {desc, 124, 96},
        {eot, 127, 127},
        {desc_file, 43, 42},
        {send_src0_subreg, 68, 68},
        {jip, 111, 96},
        {uip, 127, 112},
        {call_offset, 111, 96},
    });
  }();

  static constexpr TypeCodes types = [] {
    using enum Type;
    return TypeCodes{
        .registers = TypeList(ud, d, uw, w, ub, b, df, f),
        .immediates = TypeList(ud, d, uw, w, uv, vf, v, f),
        .ternary = TypeList(f, d, ud, df),
        .ternary_float = no_types,
    };
  }();

  static constexpr bool branches_in_align16 = true;
  static constexpr int branch_unit = 8;
  static constexpr int jump_unit = 8;
  static constexpr MathSet math_functions = [] {
    using enum MathFunction;
    return math_set(inv, log, exp, sqt, rsqt, sin, cos, fdiv, pow, idiv, iqot, irem);
  }();
  static constexpr bool math_takes_immediates = false;
  static constexpr ThreadCtrlSet thread_ctrls =
      thread_ctrl_set(ThreadCtrl::None, ThreadCtrl::Atomic, ThreadCtrl::Switch);
  static constexpr ThreadCtrlSet send_thread_ctrls = thread_ctrl_set();
  static constexpr bool send_has_region = true;
  static constexpr bool send_takes_arf = true;

  static constexpr Compaction compaction = [] {
    using enum Format;
    return Compaction{
        // Branches with JIP only are compacted too (Mesa's brw_eu_compact.c), though not in GED.
        .formats = formats(Unary, Binary, Math, Return, Wait, Jump, Send, Branch1),
        .control = bits(90, 89, 31, 31, 23, 8),
        .datatype = bits(63, 61, 46, 32),
        .source0 = bits(88, 77),
        .source1 = bits(120, 109),
        .datatypes = compaction::datatypes_gen7,
    };
  }();
};

}  // namespace eum::gen
