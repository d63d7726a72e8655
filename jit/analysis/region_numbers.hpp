#pragma once
// Which of the regions that are cached in a thread's state (StateLayout::regions) each access by address
// uses. Accesses by one pointer share one: accesses of different buffers that alternate in one would each
// find the other's region there, and be done by calls.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

class RegionNumbers {
 public:
  /// `layout`: of the function.
  RegionNumbers(const ir::Function& function, const StateLayout& layout);

  /// The region of an instruction that accesses the address space.
  std::uint8_t of(const ir::Inst& inst) const { return numbers_[static_cast<std::size_t>(inst.imm)]; }

 private:
  std::vector<std::uint8_t> numbers_;  ///< by access of the function; or empty: it has none by address
};

}  // namespace eum::jit
