#pragma once
// Between which instructions each variable of a kernel holds something that is still read, so that variables
// of different times can share a place. It must not know places.
#include <cstdint>
#include <vector>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

/// Instructions of the kernel, by index, from `first` to `last`.
struct Lifetime {
  enum class Use : std::uint8_t { None, Named, Addressed } use = Use::None;
  std::uint32_t first = ~std::uint32_t{0};
  std::uint32_t last = 0;
};

/// By variable; of aliases their root's counts. Control goes forward from instruction to instruction also
/// where channels part, as those that wait do so at a later place; so a variable lives from the first
/// instruction that names it to the last, and through each loop into or out of which it carries something. In
/// a kernel with functions everything lives throughout: calls come from many places.
std::vector<Lifetime> lifetimes(const Kernel& kernel);

}  // namespace eum::visa
