#pragma once
// The math instruction over whole registers: 512 channels at a time, on one engine. Everything is executed as
// machine code, as in a kernel. Independent of what a function should return.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "frontend/gen/family.hpp"
#include "jit/engine.hpp"
#include "memory/base/result.hpp"

namespace eum::accuracy {

/// Types of operands, with the values of bits 40:37 of an instruction.
enum class Element : std::uint8_t { UD = 0, D = 1, F = 7, HF = 10 };

/// cr0.0 as compilers set it: denormals of all types are kept, rounding to nearest even.
inline constexpr std::uint32_t keep_denormals = 0x4c0;

/// 32 math instructions of 16 channels each, compiled for one engine.
class MathCode {
 public:
  static constexpr std::size_t channels = 512;

  /// `function` is the function control field (frontend/gen/math_functions.def).
  static Result<MathCode> create(jit::Engine& engine, unsigned function, unsigned sources, Element element,
                                 std::uint32_t cr0);

  /// Computes 512 results; one-operand functions use `a` only. Elements have 2 or 4 bytes and are packed.
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
