#pragma once
// Where the variables of a kernel or function are: general, address, surface and sampler variables in one
// linear register file after the thread's payload, predicates in flag registers. It must not know
// instructions.
#include <cstdint>
#include <vector>

#include "frontend/eu/operand.hpp"
#include "frontend/eu/target.hpp"
#include "frontend/visa/kernel.hpp"
#include "frontend/visa/lower/register_file.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

/// End of the payload according to the .input lines, in bytes.
Result<std::uint32_t> payload_bytes(const Kernel& kernel, unsigned grf_bytes);

class Layout {
 public:
  /// Assigns a place in `file` to every variable that an instruction names; predefined variables that
  /// functions share have those of `caller`, which is null for the kernel itself.
  static Result<Layout> make(const Kernel& kernel, RegisterFile& file, const Layout* caller);

  const eu::Target& target() const { return target_; }
  /// Called when the whole file has been laid out.
  void set_target(const eu::Target& target) { target_ = target; }
  unsigned grf_bytes() const { return grf_bytes_; }

  /// Byte offset in the register file of a general, address, surface or sampler variable.
  std::uint32_t offset(VariableId variable) const { return places_[variable]; }
  /// First flag bit of a predicate.
  std::uint32_t flag(VariableId predicate) const { return places_[predicate]; }

  /// Converts a vector operand (General, Indirect, Immediate, Null, Address, AddressOf, State, Predicate) to
  /// one of the EU. A predicate is read as an integer of `type`.
  eu::Operand operand(const Kernel& kernel, const Operand& op) const;
  /// Converts a raw operand: packed elements of `type` from its first byte on; Null stays Null.
  eu::Operand raw(const Kernel& kernel, const Operand& op, ir::Type type) const;
  /// Byte offset of a raw operand.
  std::uint32_t raw_offset(const Operand& op) const { return places_[op.variable] + op.column; }

 private:
  eu::Operand general(const Kernel& kernel, const Operand& op) const;

  unsigned grf_bytes_ = 32;
  std::vector<std::uint32_t> places_;  ///< by variable; no_place: not named by an instruction
  eu::Target target_{};
};

}  // namespace eum::visa
