#pragma once
// Which accesses code generation does in line, and which of those by runs: shared by the emitters of loads
// and stores and the passes that prepare their operands.
#include <cstdint>

#include "frontend/ir/function.hpp"
#include "jit/analysis/linear.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

/// Whether the access can be done in line. With a large immediate offset, a surface whose state has to be
/// read, or few distances from a base, it is done by a call.
bool fits_in_line(const Optimisations& optimisations, const ir::MemoryAccess& access, unsigned lanes);

/// The number of components from the first one that is accessed to the last.
unsigned component_span(const ir::MemoryAccess& access);
/// Whether several components of each lane are accessed together, in 16 bytes at most: two to four dwords
/// (vISA has up to eight), where a load may also fetch unused ones in between, or two qwords.
bool has_side_by_side_components(ir::Op op, const ir::MemoryAccess& access, unsigned element);

/// A load of up to 16 bytes or words with a stride of one to four bytes that are not adjacent: vectors that
/// hold four lanes each are shuffled.
bool is_narrow_and_apart(ir::Op op, const ir::MemoryAccess& access, unsigned element, unsigned lanes,
                         std::int64_t stride);

/// A store of two or three bytes of each lane, which ends where the next one's begin: vectors of all lanes
/// are shuffled.
bool is_dense_bytes(ir::Op op, const ir::MemoryAccess& access, unsigned element, unsigned lanes,
                    std::int64_t stride);

/// Whether lanes access adjacent dwords in descending order.
bool is_reversed(ir::Type type, const ir::MemoryAccess& access, const LinearRun& linear);

/// By how many runs a load or store of this type without a mask is done, if its addresses are known to be
/// linear; 0: they are far apart, or the access has no such form.
unsigned runs_of(const Optimisations& optimisations, ir::Op op, ir::Type type, unsigned lanes,
                 const ir::MemoryAccess& access, const LinearRun& linear);
/// Whether such an access can also be done under a mask.
bool has_masked_runs(ir::Op op, ir::Type type, const ir::MemoryAccess& access, const LinearRun& linear);

}  // namespace eum::jit
