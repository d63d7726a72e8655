#pragma once
// Between which instructions each variable of a kernel holds a value that is still read, so that variables
// with disjoint lifetimes can share storage. It must not know places.
#include <cstdint>
#include <vector>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

/// Indices of instructions of the kernel, from `first` to `last`.
struct Lifetime {
  enum class Use : std::uint8_t { None, Named, Addressed } use = Use::None;
  std::uint32_t first = ~std::uint32_t{0};
  std::uint32_t last = 0;
};

/// By variable; an alias has the lifetime of its root. Control proceeds forward through the instructions even
/// where channels diverge, because channels are parked only at later places; so a variable lives from the
/// first instruction that names it to the last, and through each loop into or out of which it carries a
/// value. In a kernel with calls every variable lives throughout, because calls come from many places.
std::vector<Lifetime> lifetimes(const Kernel& kernel);

}  // namespace eum::visa
