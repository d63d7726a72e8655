// The limits here are those of the emitters: jit/avx2/emit/load.cpp and store.cpp.
#include "jit/analysis/access_form.hpp"

#include <algorithm>
#include <bit>

namespace eum::jit {

bool fits_in_line(const Optimisations& optimisations, const ir::MemoryAccess& access, unsigned lanes) {
  const ir::MemSpaceInfo& space = ir::info(access.space);
  return optimisations[Optimisation::memory_in_line] &&
         (optimisations[Optimisation::regions] || !space.in_space) && access.offset < (1u << 20) &&
         space.surface != ir::SurfaceBy::Place && (space.surface != ir::SurfaceBy::Base || lanes % 8 == 0);
}

unsigned component_span(const ir::MemoryAccess& access) {
  const auto end = static_cast<unsigned>(std::bit_width(access.components));
  return end - static_cast<unsigned>(std::countr_zero(access.components));
}

bool has_side_by_side_components(ir::Op op, const ir::MemoryAccess& access, unsigned element) {
  const unsigned count = access.component_count(), span = component_span(access);
  return element >= 4 && count > 1 && span * element <= 16 && (op == ir::Op::load || span == count);
}

bool is_narrow_and_apart(ir::Op op, const ir::MemoryAccess& access, unsigned element, unsigned lanes,
                         std::int64_t stride) {
  return op == ir::Op::load && access.component_count() == 1 && element < 4 && lanes <= 16 && stride >= 1 &&
         stride <= 4 && stride != element;
}

bool is_dense_bytes(ir::Op op, const ir::MemoryAccess& access, unsigned element, unsigned lanes,
                    std::int64_t stride) {
  const unsigned count = access.component_count();
  return op == ir::Op::store && element == 1 && (count == 2 || count == 3) && stride == count &&
         component_span(access) == count && lanes <= 16;
}

unsigned runs_of(const Optimisations& optimisations, ir::Op op, ir::Type type, unsigned lanes,
                 const ir::MemoryAccess& access, const LinearRun& linear) {
  constexpr unsigned row = 8;  // lanes
  constexpr std::int64_t farthest = 4096;
  const std::int64_t stride = std::int64_t{linear.stride} * access.scale;
  const bool goes_down = is_reversed(type, access, linear);
  if (!optimisations[Optimisation::rows] || lanes % row != 0 || linear.run < row ||
      (stride < 0 && !goes_down) || stride > farthest || ir::size_of(ir::info(access.space).address) != 4 ||
      !fits_in_line(optimisations, access, lanes))
    return 0;
  const unsigned element = ir::size_of(type), count = access.component_count();
  // Elements of several rows may share a vector.
  if (element < 4 && lanes > 2 * row) return 0;
  const bool side_by_side = has_side_by_side_components(op, access, element);
  const unsigned span = component_span(access);
  const unsigned runs = lanes / std::min<unsigned>(std::bit_floor(linear.run), lanes);
  if (stride == 0)
    return op == ir::Op::load && (count == 1 || side_by_side) && (element >= 4 || runs == 1) ? runs : 0;
  const bool dense = goes_down || ((count == 1 || side_by_side) && stride == span * element);
  const bool neighbours_overlap = op == ir::Op::load && count > 1 && element == 4 && stride == element;
  const bool apart = op == ir::Op::load ? side_by_side || (element >= 4 && count == 1)
                                        : stride >= count * element && (side_by_side || count == 1);
  if (is_narrow_and_apart(op, access, element, lanes, stride)) return runs;
  if (is_dense_bytes(op, access, element, lanes, stride)) return runs;
  if (!dense && !neighbours_overlap && !apart) return 0;
  return runs;
}

bool is_reversed(ir::Type type, const ir::MemoryAccess& access, const LinearRun& linear) {
  return ir::size_of(type) == 4 && access.component_count() == 1 &&
         std::int64_t{linear.stride} * access.scale == -4;
}

bool has_masked_runs(ir::Op op, ir::Type type, const ir::MemoryAccess& access, const LinearRun& linear) {
  // Memory between active lanes can be read, but must not be written.
  if (op == ir::Op::load) return true;
  const unsigned element = ir::size_of(type), count = access.component_count();
  const std::int64_t stride = std::int64_t{linear.stride} * access.scale;
  return count <= (element < 4 ? 1 : 2) && stride == count * element;
}

}  // namespace eum::jit
