#pragma once
// Where the variables of a kernel and the functions that it calls lie: general, address, surface and sampler
// variables in one linear register file behind the thread's payload, predicates in flag registers. It must
// not know instructions.
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/eu/operand.hpp"
#include "frontend/eu/target.hpp"
#include "frontend/visa/kernel.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

class Layout {
 public:
  /// Of `kernel` alone; `base` is the first free byte of the file and the first free flag register.
  struct Base {
    std::uint32_t bytes = 0;
    std::uint32_t flags = 0;
  };

  const eu::Target& target() const { return target_; }
  unsigned grf_bytes() const { return target_.grf_bytes; }

  /// Of a general, address, surface or sampler variable: bytes in the register file.
  std::uint32_t offset(VariableId variable) const { return places_[variable]; }
  /// Of a predicate: its first flag bit.
  std::uint32_t flag(VariableId predicate) const { return places_[predicate]; }

  /// A vector operand (General, Indirect, Immediate, Null, Address, State, Predicate) as the EU has it.
  eu::Operand operand(const Kernel& kernel, const Operand& op) const;
  /// A raw operand: packed elements of `type` from its first byte on; Null stays Null.
  eu::Operand raw(const Kernel& kernel, const Operand& op, ir::Type type) const;
};

}  // namespace eum::visa
