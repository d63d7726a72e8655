#pragma once
// VectorFile: what each vector register holds. A register's content is never changed while anything refers to
// it, so a value, a copy of it and a slot of the register file may share one.
#include <array>
#include <cstdint>

#include "frontend/ir/function.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::codegen {

/// What refers to a register: a chunk of a value, or a slot.
struct VectorRef {
  std::uint32_t id;
  std::uint8_t chunk;
  bool is_slot;
  bool operator==(const VectorRef&) const = default;

  static VectorRef slot(unsigned slot) { return {slot, 0, true}; }
  static VectorRef value(ir::ValueId value, unsigned chunk) {
    return {value, static_cast<std::uint8_t>(chunk), false};
  }
};

class VectorFile {
 public:
  static constexpr std::size_t max_registers = 32, max_refs = 8;

  struct Register {
    std::array<VectorRef, max_refs> refs;
    std::uint8_t count = 0;

    const VectorRef* begin() const { return refs.data(); }
    const VectorRef* end() const { return refs.data() + count; }
    bool full() const { return count == max_refs; }
  };

  void clear() {
    for (Register& reg : registers_) reg.count = 0;
    held_ = pinned_ = 0;
  }
  const Register& operator[](std::size_t reg) const { return registers_[reg]; }
  /// Bit r: something refers to register r.
  std::uint32_t held() const { return held_; }
  /// Bit r: the current instruction uses register r, which is not to be spilled.
  std::uint32_t pinned() const { return pinned_; }
  void pin(std::size_t reg) { pinned_ |= std::uint32_t{1} << reg; }
  void unpin(std::size_t reg) { pinned_ &= ~(std::uint32_t{1} << reg); }
  void unpin() { pinned_ = 0; }
  void add(std::size_t reg, VectorRef ref) {
    Register& r = registers_[reg];
    if (r.full()) throw EngineBug("a register has too many names");
    r.refs[r.count++] = ref;
    held_ |= std::uint32_t{1} << reg;
  }
  void drop(std::size_t reg, VectorRef ref) {
    Register& r = registers_[reg];
    for (unsigned i = 0; i < r.count; ++i) {
      if (!(r.refs[i] == ref)) continue;
      r.refs[i] = r.refs[--r.count];
      if (r.count == 0) held_ &= ~(std::uint32_t{1} << reg);
      return;
    }
  }
  void drop_all(std::size_t reg) {
    registers_[reg].count = 0;
    held_ &= ~(std::uint32_t{1} << reg);
  }

 private:
  std::array<Register, max_registers> registers_{};
  std::uint32_t held_ = 0, pinned_ = 0;
};

}  // namespace eum::jit::codegen
