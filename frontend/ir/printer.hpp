#pragma once
// The text form of functions, for tests, dumps and the command line. parse() of frontend/ir/parser.hpp reads
// it back; it holds no host addresses, so two dumps can be compared.
//
//   kernel @saxpy simd 16 family gen9 file 4096 slot 32 masks 2
//   b0: ip 0x0 count 3
//     %0 = mask_get.mx16 mask0
//     %1 = reg_read.f32x16 r14<1;1,0>                    @0x8
//     %2 = constant.f32x16 0x40000000 ; 2
//     %3 = mul.f32x16 %1, %2
//     %4 = reg_read.u32x16 r16<1;1,0> ? %0
//     %5, %6 = load.u32x16 surface3[%4] {0, 2} ? %0
//     reg_write.f32x16 r18<1;1,0>, %3 ? %0
//     exit
//
// The head may have `indirect 4096` and `flags 128` before the masks: see Function.
// An op is followed by its type and lanes, its attribute and its operands; `? %m` is the lane mask.
// Attributes:
//   constant 0x..            lane bits            vconst {0x1, 0x2}         one value a lane
//   slice %v, first lane     group_any %m, size   mask_get mask3, mask_set mask3, %m
//   reg_read r14.2<8;8,1>    register and element in it, or reg[byte offset]<vstride;width,hstride>
//   flag_read f0.1           or flag[bit]
//   load surface3[%a] {0, 2} components; other spaces have the names of mem_space_table; {0} is left out
//   atomic add slm[%a], %source
//   jump b1, branch_any %m, b1, b2, wait b1, trap "text"
//   convert.s32.f32x8 %v     the operand's type may follow the type
// A value is `%` and a name, local to its block. `@0x8` is the guest ip of this and later instructions of the
// block; instructions before the first such mark have that of the block. `;` at the beginning of a line or
// after a blank begins a comment.
#include <string>

#include "frontend/ir/function.hpp"

namespace eum::ir {

std::string print(const Function& function);

/// One line without indentation, guest ip or line end.
std::string print_inst(const Function& function, const Inst& inst);

/// The first difference between `a` and `b` in words; empty if they differ at most in the numbering of
/// values, pool entries and strings. Both must be well formed.
std::string difference(const Function& a, const Function& b);
inline bool equal(const Function& a, const Function& b) { return difference(a, b).empty(); }

/// `imm` reduced to the bits of one lane of `type`; for a mask, to `lanes` bits.
std::uint64_t lane_bits(Type type, unsigned lanes, std::uint64_t imm);

}  // namespace eum::ir
