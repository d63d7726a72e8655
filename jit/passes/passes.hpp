#pragma once
// The passes over micro-ops, each a free function that leaves a valid function, and the pipeline that engines
// run that translate. Passes know nothing of any guest encoding or host instruction.
#include <span>
#include <string_view>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "jit/passes/expand_math.hpp"
#include "memory/base/result.hpp"

namespace eum::jit {

/// An `if` that no channel takes, as its mask is zero whatever the execution mask is, becomes a jump.
void untaken_branches(ir::Function& function);

/// Ops on types that hosts do not compute on (f16, some of 8 and 16 bits) become ops on wider ones.
void widen(ir::Function& function);

/// Elements of 8 and 16 bits that are not adjacent in registers, and are converted from or to 32 bits, are
/// read and written as the words or dwords around them.
void strided_conversions(ir::Function& function);

/// Low and high halves of 64 bits that are written in sequence are written at once.
void join_halves(ir::Function& function);

/// Integers that fit a byte or word, or are clamped to what it holds, are packed by saturation.
void saturating_packs(ir::Function& function);

/// Ops on both halves of 64 bits that are loaded or stored become ops on qwords.
void wide_ops(ir::Function& function);
/// The same in one block.
void wide_ops(ir::Function& function, ir::BlockId block);

/// Lanes of a register that separate instructions write by register address, one channel each, are written at
/// once.
void join_scatters(ir::Function& function);

/// Comparisons, minima and maxima of negated dwords that are computed in 64 bits are computed in 32.
void negations(ir::Function& function);

/// Within each block: reads of registers and flags take the value that was last written or read there, equal
/// pure ops are computed once, and writes of flags under a mask become reads, mask arithmetic and plain
/// writes.
void forward_state(ir::Function& function);
/// In one block.
void forward_state(ir::Function& function, ir::BlockId block);

/// What has been loaded from a surface is not loaded again before something is stored there, if surfaces
/// share no memory.
void repeated_loads(ir::Function& function);

/// Elements of a surface that are side by side in each lane are loaded or stored at once, if surfaces share
/// no memory.
void join_elements(ir::Function& function);

/// Reads of registers that were written under several masks select among the written values.
void masked_writes(ir::Function& function);
/// The same in one block.
void masked_writes(ir::Function& function, ir::BlockId block);

/// Loops that retry a compare-and-exchange until it adds a float add atomically, once.
void exchange_loops(ir::Function& function);

/// Powers of two of integral numbers are computed without a polynomial.
void integral_powers(ir::Function& function);

/// Flags that have been kept or computed as numbers are masks again.
void flag_numbers(ir::Function& function);

/// Writes by register address of which a constant mask leaves one channel become writes of one.
void lone_scatters(ir::Function& function);

/// Consecutive ones, each of another channel, are written at once.
void join_lone_scatters(ir::Function& function);

/// Truncated values are computed from fewer bits, and bits that cannot be set are not masked.
void low_bits(ir::Function& function);

/// Dwords whose bytes or words all undergo the same ops are computed as more lanes of 8 or 16 bits.
void packed_elements(ir::Function& function);

/// Quotients of numbers of 16 bits by constants are computed by a product of words.
void small_quotients(ir::Function& function);

/// What is computed of dwords and then cut to bytes or words is computed of bytes or words.
void narrow_ops(ir::Function& function);

/// Bytes that both halves of 32 channels compute and store are computed together.
void half_vectors(ir::Function& function);

/// Loops that divide 64 bits, one bit per turn, become quotients and remainders.
void long_division(ir::Function& function);

/// What an `if` skips is executed under the mask, if it is short.
void short_branches(ir::Function& function);
/// The same in a loop of which a trace will be made, the blocks from `first` on: also of longer bodies.
void join_branches(ir::Function& function, ir::BlockId first);

/// `mach` whose accumulator holds the product with the low half of the same factor becomes one mul_wide.
void fuse_mul_mach(ir::Function& function);

/// One lane of a comparison whose operands are the same in every lane becomes a comparison of scalars.
void scalar_compare(ir::Function& function);

/// Values that are read in all lanes, and used under a mask, are those that were written under it.
void masked_reads(ir::Function& function);

/// Shifts in opposite directions that rotate a value become rotl.
void rotations(ir::Function& function);

/// Addresses of 64 bits that are a base plus distances of 32 bits become base and distances.
void distances(ir::Function& function);

/// Masks that are used only under another mask are simplified by it.
void needed_lanes(ir::Function& function);

/// Stores to the same places under several masks become one, if surfaces share no memory.
void join_stores(ir::Function& function);
/// The same in a block in which stores to different addresses go to different places, in all lanes.
void join_stores(ir::Function& function, ir::BlockId block);

/// Users of a complemented mask use the mask itself: select, and, andn.
void complements(ir::Function& function);

/// Comparisons of numbers that masks have chosen among constants become masks.
void booleans(ir::Function& function);

/// Loops in which each lane stores along a row of its own run row by row, several turns at once, if surfaces
/// share no memory.
void row_loops(ir::Function& function);

/// Computations whose values do not fit the host's registers are split into parts of a register each.
void split_lanes(ir::Function& function);

/// Drops fences that follow no store, since the last fence, that other host threads may see, and weakens
/// some.
void fences(ir::Function& function);

/// Marks the blocks at which a thread may pause. Every engine does it first.
void mark_safepoints(ir::Function& function, Safepoints where);

struct Pass {
  Optimisation optimisation;
  std::string_view name;
  void (*run)(ir::Function& function);
};

/// All of them, in the order of jit/optimisations.def.
std::span<const Pass> pipeline();

/// Notes in the function what a launch promises, as far as passes and code generation may rely on it.
void note_promises(ir::Function& function, const LaunchFacts& facts, const Optimisations& optimisations);

struct PipelineOptions {
  Optimisations optimisations = {};
  bool verify = false;           ///< after each pass, as debug builds always do
  bool exact_registers = false;  ///< as in CompileOptions: no pass that is Unobserved or Unrestored
  bool own_images = true;        ///< as in LaunchFacts: else no pass that is Unrestored
};

/// Runs the passes that are not disabled. The error names the pass that has left an invalid function, and has
/// the function's text.
Result<void> run_pipeline(ir::Function& function, const PipelineOptions& options);

}  // namespace eum::jit
