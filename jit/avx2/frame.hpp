#pragma once
// Where translated code keeps its data: the fixed registers and the host stack frame.
#include <asmjit/x86.h>

#include <cstdint>

#include "jit/codegen/strip.hpp"
#include "jit/codegen/target.hpp"
#include "jit/engine.hpp"

namespace eum::jit::avx2 {

namespace x86 = asmjit::x86;

/// rbx points to the ThreadState, r15 to the binding table, rsp to the frame. While the thread runs, r14 is
/// the execution mask and r13 what is left of the budget: code that leaves writes them to the state.
/// Everything else is allocated.
inline const x86::Gp state_reg = x86::rbx;
inline const x86::Gp surfaces_reg = x86::r15;
inline const x86::Gp mask_reg = x86::r14d;
inline const x86::Gp budget_reg = x86::r13;

inline constexpr codegen::Target target{
    .vector_bytes = 32,
    .vector_registers = 16,
    .general_registers = 0xffff & ~(1u << x86::Gp::kIdSp | 1u << x86::Gp::kIdBx | 7u << x86::Gp::kIdR13),
    .mask_registers = 0,
};
/// With AVX-512VL: vectors stay 32 bytes; k0 means no mask, and k7 is the assembler's.
inline constexpr codegen::Target evex_target{
    .vector_bytes = target.vector_bytes,
    .vector_registers = 32,
    .general_registers = target.general_registers,
    .mask_registers = 0x7e,
};
/// The same with masks in lanes of vectors.
inline constexpr codegen::Target evex_lanes_target{
    .vector_bytes = evex_target.vector_bytes,
    .vector_registers = evex_target.vector_registers,
    .general_registers = evex_target.general_registers,
    .mask_registers = 0,
};

/// Offsets from rsp. Operand areas hold packed lanes for calls of C++ functions.
struct Frame {
  /// Counters, a dword each, that accesses of lanes share: how often their lanes have not been a run. First
  /// in the frame, as code uses these offsets often. Not bytes, which would be loaded late if their
  /// neighbours have just been stored: Zen 5 waits until those are in the cache.
  static constexpr int scattered = 0;
  static constexpr int scattered_counters = 64, scattered_counter = 4;
  static constexpr int scattered_bytes = scattered_counters * scattered_counter;
  static constexpr int operand_bytes = ir::max_lanes * 8;
  static constexpr int operands = scattered + scattered_bytes;
  static constexpr int operand_count = 4;
  static_assert(ir::max_pure_operands <= operand_count);
  static constexpr int saved_vectors = operands + operand_count * operand_bytes;
  static constexpr int saved_generals = saved_vectors + 32 * 32;
  static constexpr int saved_masks = saved_generals + 16 * 8;
  static constexpr int host_rsp = saved_masks + 8 * 8;
  static constexpr int status = host_rsp + 8;
  static constexpr int site = status + 4;    ///< of a call of call_site_
  static constexpr int mask = status + 8;    ///< AccessOperands::mask of a call
  static constexpr int surface = mask + 8;   ///< AccessOperands::surface of a call
  static constexpr int slm = surface + 8;    ///< copies from the environment, for accesses in line
  static constexpr int slm_bytes = slm + 8;  ///< mem::ReachableBytes
  static constexpr int scratch = slm_bytes + static_cast<int>(sizeof(mem::ReachableBytes));
  static constexpr int scratch_bytes = scratch + 8;
  static constexpr int exclusive = scratch_bytes + 8;  ///< Environment::exclusive, a byte
  static constexpr int batch = exclusive + 8;          ///< the ThreadBatch that runs
  static constexpr int last = batch + 8;               ///< ThreadBatch::last
  static constexpr int regular = last + 8;  ///< threads that have reached the barrier of ThreadBatch::waits
  /// Not 0: restored slots of all threads of a group hold what ThreadBegin says, for a codegen::Strip.
  static constexpr int restored = regular + 4;
  /// How many groups in succession could not be run as a strip; below 0: how many more are not tried.
  static constexpr int strip_failures = restored + 4;
  static constexpr int strip_part = strip_failures + 4;  ///< a GroupPart, 4 bytes
  static constexpr int strip_line = strip_part + 4;      ///< threads left in a line of IdSteps, 4 bytes
  static constexpr int group_last =
      (strip_line + 11) / 8 * 8;  ///< the group's last thread, if its parts run apart
  static constexpr int group = (group_last + 8 + 31) / 32 * 32;  ///< the current GroupHeader
  /// For a codegen::Strip: steps that are computed, then bases of windows, 8 bytes each.
  static constexpr int strip_steps = group + 32;
  static constexpr int strip_windows = strip_steps + 8 * static_cast<int>(codegen::Strip::most_steps);
  static constexpr int strip_end = strip_windows + 8 * static_cast<int>(codegen::Strip::most_windows);
  static constexpr int data = (strip_end + 31) / 32 * 32;  ///< components of a message, or results
  static_assert(data % 32 == 0);

  /// Bytes of `data` that the function needs; spilled values follow.
  static int data_bytes(const ir::Function& function);
};

}  // namespace eum::jit::avx2
