#pragma once
// AlikeBits: how many of the lowest bits of a value are the same in all of its lanes. If it is an index,
// lanes are at least that power of two apart, or at a single address.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class AlikeBits {
 public:
  static constexpr unsigned all = 64;

  /// Nothing is known.
  AlikeBits() = default;
  explicit AlikeBits(const ir::Function& function);

  /// `all`: there is one lane, or all lanes are equal.
  unsigned of(ir::ValueId value) const { return value < bits_.size() ? bits_[value] : 0; }

 private:
  std::vector<std::uint8_t> bits_;  // by value
};

}  // namespace eum::jit
