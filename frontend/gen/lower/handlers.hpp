#pragma once
// The functions that the rows of instructions.def name in their column `lower`, by theme. Each lowers the
// current instruction of the Lowering; operands have been checked (Lowering::refuse_operands).
#include "frontend/gen/lower/lowering.hpp"

namespace eum::gen {

// arithmetic.cpp
/// dst = op(src0), floats.
void lower_float_unary(Lowering&, ir::Op);
/// dst = op(src0, src1) where only the low bits of an integer result count, or of floats.
void lower_modular(Lowering&, ir::Op);
/// dst = op(src0, src1) of integers whose order counts.
void lower_ordered(Lowering&, ir::Op);
void lower_mul(Lowering&);
/// dst = src1 * src2 + src0.
void lower_mad(Lowering&);
void lower_lrp(Lowering&);
void lower_line(Lowering&);
void lower_pln(Lowering&);
void lower_dot_product(Lowering&, unsigned components, bool homogeneous);

// logic.cpp
void lower_logic(Lowering&, ir::Op);
void lower_not(Lowering&);
void lower_shift(Lowering&, ir::Op);
/// dst = op(sources), 32-bit integers of the destination's or of the first source's type.
void lower_bits(Lowering&, ir::Op);

// convert.cpp
void lower_mov(Lowering&);
void lower_smov(Lowering&);
void lower_movi(Lowering&);

// compare.cpp
void lower_cmp(Lowering&);
void lower_cmpn(Lowering&);
void lower_sel(Lowering&);
void lower_csel(Lowering&);

// math.cpp
void lower_math(Lowering&);

// accumulator.cpp
/// A mul of dwords whose 64-bit product goes to the accumulator.
bool writes_wide_product(const Instruction&);
void lower_wide_mul(Lowering&);
void lower_mach(Lowering&);
void lower_carry(Lowering&, ir::Op);
void lower_mac(Lowering&);

// flow.cpp
void lower_jmpi(Lowering&);
void lower_if(Lowering&);
void lower_else(Lowering&);
/// endif and join: the label has reunited the channels; go on at JIP if there are none.
void lower_reconverge(Lowering&);
void lower_while(Lowering&);
void lower_break(Lowering&);
/// cont, halt, brc: the channels wait at UIP.
void lower_park(Lowering&);
void lower_goto(Lowering&);
void lower_brd(Lowering&);
void lower_call(Lowering&);
void lower_ret(Lowering&);
void lower_wait(Lowering&);
void lower_nop(Lowering&);
void lower_illegal(Lowering&);
void lower_unsupported(Lowering&);

// send.cpp
void lower_send(Lowering&);

template <ir::Op op>
void lower_unary(Lowering& l) {
  lower_float_unary(l, op);
}
template <ir::Op op>
void lower_binary(Lowering& l) {
  lower_modular(l, op);
}
template <ir::Op op>
void lower_binary_ordered(Lowering& l) {
  lower_ordered(l, op);
}
template <ir::Op op>
void lower_bitwise(Lowering& l) {
  lower_logic(l, op);
}
template <ir::Op op>
void lower_shift_by(Lowering& l) {
  lower_shift(l, op);
}
template <ir::Op op>
void lower_bit_field(Lowering& l) {
  lower_bits(l, op);
}
template <ir::Op op>
void lower_with_carry(Lowering& l) {
  lower_carry(l, op);
}
template <unsigned components>
void lower_dp(Lowering& l) {
  lower_dot_product(l, components, false);
}
inline void lower_dph(Lowering& l) { lower_dot_product(l, 4, true); }

}  // namespace eum::gen
