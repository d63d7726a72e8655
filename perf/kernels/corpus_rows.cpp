// Kernels of the corpus whose work items are independent of each other: the corpus case, replicated many
// times.
#include <fmt/core.h>

#include "perf/kernels/kernels.hpp"

namespace eum::perf {
namespace {

struct Row {
  std::string_view small;
  uint32_t items;  ///< approximate number
};

constexpr Row kRows[] = {
    {"bs_fast.bs", 1 << 22},
    {"saxpy_a64.saxpy", 1 << 22},
    {"fence.fence.48", 1 << 20},
    {"bigslm.bigslm", 1 << 18},
    {"ids.ids.line", 1 << 20},
    {"small_groups.group_walk.8", 1 << 17},
    {"structarg.structarg", 1 << 20},
    {"shading.shading", 1 << 19},
    {"shading_fast.shading", 1 << 19},
    {"arith64.arith64", 1 << 18},
    {"intdiv.intdiv8", 1 << 20},
    {"intdiv.intdiv16", 1 << 21},
    {"bits32.bits32", 1 << 19},
    {"chunks.floats", 1 << 20},
    {"chunks.bytes", 1 << 20},
    {"rows.scale", 1 << 14},
    {"rows.average", 1 << 15},
    {"rows.look_up", 1 << 15},
    {"rows.dots", 1 << 17},
    {"rows.differences", 1 << 15},
    {"rows.fixed_length", 1 << 14},
    {"branches.binarised", 1 << 20},
    {"branches.grades", 1 << 20},
    {"branches.covered", 1 << 20},
    {"mixing.pixels", 1 << 18},
    {"mixing.sounds", 1 << 18},
    {"packed.packed_char4", 1 << 19},
    {"packed.packed_uchar4", 1 << 19},
    {"packed.packed_short2", 1 << 20},
    {"packed.packed_ushort2", 1 << 20},
    {"mathlib.math_exact", 1 << 19},
    {"mathlib.math_accurate", 1 << 20},
    {"mathlib.math_power", 1 << 20},
    {"mathlib.math_trig", 1 << 18},
    {"mathlib.math_native", 1 << 21},
    {"double_math.double_math", 1 << 19},
    {"convert.convert_from_float", 1 << 20},
    {"convert.convert_to_float", 1 << 22},
    {"convert.convert_int64", 1 << 20},
    {"double_math.double_convert", 1 << 18},
    {"half_memory.half_load", 1 << 22},
    {"half_memory.half_store", 1 << 22},
    {"half_math.half_math.moderate", 1 << 18},
    {"half_math.half_axpy4", 1 << 18},
    {"loops8.loops", 1 << 18},
    {"loops16.loops", 1 << 18},
    {"loops_noopt.loops", 1 << 11},
    {"interpreter.interpreter", 1 << 12},
    {"subroutine.subroutine", 1 << 17},
    {"irreducible.irreducible", 1 << 18},
    {"consttable.crc32", 1 << 19},
    {"consttable.polynomial", 1 << 19},
    {"generic_pointer.generic_pointer", 1 << 18},
    {"vectors.vectors_triple", 1 << 22},
    {"vectors.vectors_wide", 1 << 20},
    {"vectors.vectors_unaligned", 1 << 22},
    {"vectors.vectors_components", 1 << 22},
    {"vectors.vectors_index", 1 << 20},
    {"vectors_a64.vectors_triple", 1 << 19},
    {"vectors_a64.vectors_wide", 1 << 17},
    {"vectors_a64.vectors_unaligned", 1 << 18},
    {"vectors_a64.vectors_components", 1 << 18},
    {"vectors_a64.vectors_index", 1 << 18},
    {"atomics.atomics_local", 1 << 19},
    {"atomics.atomics_float", 1 << 18},
    {"subgroup8.subgroup_reduce", 1 << 19},
    {"subgroup16.subgroup_shuffle", 1 << 21},
    {"subgroup16.subgroup_block", 1 << 21},
    {"subgroup32.subgroup_reduce", 1 << 20},
};

}  // namespace

void add_corpus_rows(std::vector<PerfKernel>& rows) {
  for (const auto& [small, items] : kRows) {
    constexpr uint32_t whole = 64;  // so that groups can be whole vectors, as in user programs
    const auto make = [small = small, items = items] {
      const uint32_t times = items / find_small(small)->global[0];
      return enlarged(small, times < whole ? std::max(1u, times) : times / whole * whole);
    };
    // The file distinguishes a kernel from variants compiled with other options; the case is irrelevant here.
    const kernels::KernelCase& c = *find_small(small);
    rows.push_back(
        {c.file == c.kernel ? c.file : fmt::format("{}.{}", c.file, c.kernel), std::string(small), make});
  }
}

}  // namespace eum::perf
