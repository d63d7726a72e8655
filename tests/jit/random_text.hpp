#pragma once
// What tests share that write random functions as text.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tests/jit/world.hpp"

namespace eum::jit::test {

class RandomText {
 protected:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }

  Random random_;
  std::string text_;
};

/// Rows of lanes: where the first one begins, how many bytes they are apart, the number of their first
/// element, and how many elements each has.
struct Rows {
  std::uint32_t base, apart, first, turns;
};

/// Puts a number into the register file.
inline void put(World& world, unsigned place, std::uint32_t number) {
  std::memcpy(world.file() + place, &number, sizeof number);
}

}  // namespace eum::jit::test
