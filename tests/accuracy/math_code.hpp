#pragma once
// The math instruction over whole registers: 512 channels at a time, on one engine. Everything here goes
// through machine code, as a kernel's does. It must not know what a function should give.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "frontend/gen/family.hpp"
#include "jit/engine.hpp"
#include "memory/base/result.hpp"

namespace eum::accuracy {

/// Types of operands, as bits 40:37 of an instruction have them.
enum class Element : std::uint8_t { UD = 0, D = 1, F = 7, HF = 10 };

/// cr0.0 with denormals of all types kept, as compilers set it, rounding to nearest even.
inline constexpr std::uint32_t keep_denormals = 0x4c0;

/// What 32 math instructions of 16 channels do to the registers.
class MathCode {
 public:
  static constexpr std::size_t channels = 512;

  /// `function` is the function control field (frontend/gen/math_functions.def).
  static Result<MathCode> create(jit::Engine& engine, unsigned function, unsigned sources, Element element,
                                 std::uint32_t cr0);

  /// Results of 512 channels; a source of one operand is `a`. Elements of 2 or 4 bytes, packed.
  Result<void> run(const void* a, const void* b, void* results);

 private:
  MathCode(std::unique_ptr<jit::Executable> executable, unsigned sources, Element element, std::uint32_t cr0);

  std::unique_ptr<jit::Executable> executable_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
  jit::Environment environment_;
  unsigned sources_;
  std::size_t element_bytes_;
  std::uint32_t cr0_;
};

}  // namespace eum::accuracy
