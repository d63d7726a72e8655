#pragma once
// Which accesses code generation does in line, and which of those by runs: what emitters of loads and stores
// and what prepares their operands agree on.
#include <cstdint>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "jit/passes/linear.hpp"

namespace eum::jit {

/// A large immediate offset, a surface whose state has to be read, and few distances from a base leave an
/// access to a call.
bool fits_in_line(const Optimisations& optimisations, const ir::MemoryAccess& access, unsigned lanes);

/// From the first component that is accessed to the last.
unsigned component_span(const ir::MemoryAccess& access);
/// Several components of each lane that are accessed together, in 16 bytes at most: two to four dwords (vISA
/// has up to eight), of which a load may fetch what lies between those that it is of, or two qwords.
bool has_side_by_side_components(ir::Op op, const ir::MemoryAccess& access, unsigned element);

/// A load of 8 or 16 bytes or words that go up by one to four bytes, but not one after the other: vectors
/// around four of them have them.
bool is_narrow_and_apart(ir::Op op, const ir::MemoryAccess& access, unsigned element, unsigned lanes,
                         std::int64_t stride);

/// Dwords that lie side by side, the last lane's first.
bool is_reversed(ir::Type type, const ir::MemoryAccess& access, const LinearRun& linear);

/// How many runs a load or store of this type without a mask is done by, whose addresses are known to be
/// linear; 0: they are far apart, or have no such form.
unsigned runs_of(const Optimisations& optimisations, ir::Op op, ir::Type type, unsigned lanes,
                 const ir::MemoryAccess& access, const LinearRun& linear);
/// Such an access has a form with a mask as well.
bool has_masked_runs(ir::Op op, ir::Type type, const ir::MemoryAccess& access, const LinearRun& linear);

}  // namespace eum::jit
