#pragma once
// The encoding of Gen7.5 (Haswell): as Gen7, but jmpi, call and calla have offsets in bytes, call one of 32
// bits, and dim has an immediate of 64 bits. Sources: as gen7.hpp, and Beignet's gen75_encoder.cpp for the
// units and the 16-bit offsets of brd and brc.
#include "frontend/gen/encodings/gen7.hpp"

namespace eum::gen {

template <>
struct EncodingData<Encoding::gen7_5> {
  static constexpr auto opcode_number = &OpcodeInfo::number;

  static constexpr Layout fields = [] {
    using enum Field;
    constexpr PartSet lacks = parts();
    return layout(EncodingData<Encoding::gen7>::fields, lacks,
                  {
                      {dim_imm, 127, 64},
                      {call_offset, 127, 96},
                  });
  }();

  static constexpr TypeCodes types = EncodingData<Encoding::gen7>::types;

  static constexpr bool branches_in_align16 = true;
  static constexpr int branch_unit = 8;
  static constexpr int jump_unit = 1;
  static constexpr MathSet math_functions = EncodingData<Encoding::gen7>::math_functions;
  static constexpr bool math_takes_immediates = false;
  static constexpr ThreadCtrlSet thread_ctrls = EncodingData<Encoding::gen7>::thread_ctrls;
  static constexpr ThreadCtrlSet send_thread_ctrls = EncodingData<Encoding::gen7>::send_thread_ctrls;
  static constexpr bool send_has_region = true;
  static constexpr bool send_takes_arf = true;

  static constexpr Compaction compaction = EncodingData<Encoding::gen7>::compaction;
};

}  // namespace eum::gen
