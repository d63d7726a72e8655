#pragma once
// The functions that front ends name in their tables, by theme. Each lowers the current instruction of the
// Lowering, whose operands have been checked (Lowering::check_operands). `op` is the micro-op of the table's
// row; functions that leave it unnamed serve one instruction.
#include "frontend/eu/lowering.hpp"

namespace eum::eu {

// arithmetic.cpp
/// dst = op(src0), floats.
void lower_float_unary(Lowering&, ir::Op);
/// dst = op(src0, src1) if only the low bits of an integer result count, or of floats.
void lower_wrapping(Lowering&, ir::Op);
/// dst = op(src0, src1) of integers whose order counts.
void lower_exact(Lowering&, ir::Op);
/// As lower_wrapping, or a product of dwords that goes to the accumulator.
void lower_mul(Lowering&, ir::Op);
/// As lower_mul, with the low word of src1, an integer of 32 bits.
void lower_mul_word(Lowering&, ir::Op);
/// dst = src1 * src2 + src0.
void lower_mad(Lowering&, ir::Op);
/// dst = src0 + src1 + src2.
void lower_add3(Lowering&, ir::Op);
void lower_lrp(Lowering&, ir::Op);
void lower_line(Lowering&, ir::Op);
void lower_pln(Lowering&, ir::Op);
void lower_dp2(Lowering&, ir::Op);
void lower_dp3(Lowering&, ir::Op);
void lower_dp4(Lowering&, ir::Op);
void lower_dph(Lowering&, ir::Op);

// logic.cpp
void lower_logic(Lowering&, ir::Op);
void lower_not(Lowering&, ir::Op);
/// As the two above, with arithmetic source modifiers.
void lower_negated_logic(Lowering&, ir::Op);
void lower_negated_not(Lowering&, ir::Op);
void lower_shift(Lowering&, ir::Op);
/// dst = op(sources), 32-bit integers of the first source's type.
void lower_bits(Lowering&, ir::Op);
/// dst = op(sources), 32-bit integers of the destination's type: bit fields, whose data is the last source.
void lower_bit_field(Lowering&, ir::Op);
/// dst = src2 where bits of the mask src0 are 0, elsewhere src1, shifted so that its lowest bit is at the
/// lowest one of the mask.
void lower_bit_field_merge(Lowering&, ir::Op);
/// dst = src3 with src0 bits from bit src1 on replaced by the low bits of src2.
void lower_bit_field_insert(Lowering&, ir::Op);
/// dst = a function of three sources bit by bit: bit 4*src2 + 2*src1 + src0 of Instruction::function.
void lower_boolean_function(Lowering&, ir::Op);
/// `op` is the shift of the bits that stay in place: shl rotates left, shr right.
void lower_rotate(Lowering&, ir::Op);

// convert.cpp
void lower_mov(Lowering&, ir::Op);
void lower_smov(Lowering&, ir::Op);
void lower_movi(Lowering&, ir::Op);
/// Words or dwords whose low words receive the halves.
void lower_f32to16(Lowering&, ir::Op);
void lower_f16to32(Lowering&, ir::Op);

// compare.cpp
void lower_cmp(Lowering&, ir::Op);
void lower_cmpn(Lowering&, ir::Op);
void lower_sel(Lowering&, ir::Op);
void lower_csel(Lowering&, ir::Op);

// predicates.cpp
/// The flags of the instruction's channels = op(flags that the sources name).
void lower_flag_logic(Lowering&, ir::Op);
/// The flags of the instruction's channels = the lowest bit of each channel's source; for a scalar source,
/// one bit per channel, active or not.
void lower_set_flags(Lowering&, ir::Op);

// wide.cpp
/// dst = bits 63:32 of src0 * src1.
void lower_mul_high(Lowering&, ir::Op);
/// dst, dst2 = low and high half of src0 * src1 + src2.
void lower_mad_wide(Lowering&, ir::Op);
/// dst = sum or difference, dst2 = carry or borrow.
void lower_carry_out(Lowering&, ir::Op);
/// dst = src0 + the dot product of four bytes of src1 and src2.
void lower_dp4a(Lowering&, ir::Op);

// math.cpp
void lower_math(Lowering&, ir::Op);
void lower_math_macro(Lowering&, ir::Op);
void lower_quotient_and_remainder(Lowering&, ir::Op);

// accumulator.cpp
/// A mul of dwords whose 64-bit product goes to the accumulator.
bool writes_wide_product(const Instruction&);
void lower_wide_mul(Lowering&);
/// Finishes it with this product, in a 64-bit integer type.
void finish_wide_mul(Lowering&, ir::ValueId product);
void lower_mach(Lowering&, ir::Op);
/// As lower_mach, with the low half of the sum.
void lower_macl(Lowering&, ir::Op);
void lower_carry(Lowering&, ir::Op);
void lower_mac(Lowering&, ir::Op);
/// sad2; sada2, whose `op` is add.
void lower_absolute_differences(Lowering&, ir::Op);

// flow.cpp
void lower_jump(Lowering&, ir::Op);
/// As the row of flow.def says.
void lower_flow(Lowering&, ir::Op);
void lower_call(Lowering&, ir::Op);
void lower_return(Lowering&, ir::Op);
void lower_wait(Lowering&, ir::Op);
/// Signals the thread group's barrier and waits for it.
void lower_barrier(Lowering&, ir::Op);
/// Signals the barrier only.
void lower_signal(Lowering&, ir::Op);
/// A jump of all channels to the entry of Flow::table that the first source indexes; to the last one if the
/// index is beyond it.
void lower_switch(Lowering&, ir::Op);
/// The thread ends.
void lower_exit(Lowering&, ir::Op);
void lower_fence_instruction(Lowering&, ir::Op);
void lower_nop(Lowering&, ir::Op);
void lower_illegal(Lowering&, ir::Op);
void lower_unsupported(Lowering&, ir::Op);

// messages/message_lowering.cpp
void lower_send(Lowering&, ir::Op);

// messages/lsc.cpp
/// As Instruction::lsc says.
void lower_lsc(Lowering&, ir::Op);

}  // namespace eum::eu
