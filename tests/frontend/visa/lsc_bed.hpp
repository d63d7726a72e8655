#pragma once
// Kernels of one lsc instruction, written as text, on a small machine: the state that every engine leaves is
// compared byte for byte with that of the model in lsc_model.hpp.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/surface.hpp"
#include "tests/frontend/visa/lsc_model.hpp"

namespace lsc_bed {

namespace jit = eum::jit;
namespace mem = eum::mem;

/// Byte offsets in the register file of the kernel's variables, which are all inputs. S and Q, dwords and
/// qwords of one variable, hold scalars; A and B addresses; V data; Y and Z sources of atomics.
inline constexpr unsigned scalars = 64, addresses = 128, more_addresses = 384, values = 640,
                          first_source = 2816, second_source = 3072, payload_bytes = 3328;
inline constexpr unsigned value_bytes = first_source - values;

// Memory: indices of the areas of the model's machine.
enum AreaId : std::uint8_t { Low, High, Surface, Heap, Slm, Scratch };
inline constexpr std::uint64_t low_base = 0x2000, high_base = 0x1'0000'0000, surface_base = 0x3'0000'0000,
                               heap_base = 0x5000;
inline constexpr unsigned area_bytes = 4096, slm_bytes = 4096, scratch_bytes = 1024;
/// A surface in area Surface: binding table index and size, and offsets of its states in the bindless heap
/// and in the heap of surface states.
inline constexpr unsigned surface_index = 3, surface_bytes = 1000, bindless_place = 128, state_place = 192;
/// A surface of R32_UINT texels with an append counter: index, size in texels, address of the counter (in
/// area Low).
inline constexpr unsigned image_index = 5, image_width = 16, image_height = 8;
inline constexpr std::uint64_t counter_address = low_base;  ///< a multiple of a page

using Random = std::mt19937_64;

/// The text of a kernel with `line` as its body.
std::string kernel_text(const std::string& line, unsigned simd = 32);

class Bed {
 public:
  Bed();

  /// Memory and registers from `seed`; r0 points to the indirect data at the start of area Low and to no
  /// scratch.
  lsc_model::Machine machine(unsigned grf, std::uint64_t seed) const;

  /// A kernel for each engine; empty after a failed check.
  using Kernel = std::vector<std::unique_ptr<jit::Executable>>;
  static Kernel compile(const std::string& text, unsigned grf);
  /// The reason why the text's only instruction is refused, or empty if it is not.
  static std::string refusal(const std::string& text, unsigned grf);

  /// Runs the kernel from `before` under the execution mask and compares with `after`. If not `done`, the
  /// model faulted, and so must the engine, with registers unchanged. Returns the difference.
  std::string difference(const Kernel& kernel, std::uint32_t mask, const lsc_model::Machine& before,
                         const lsc_model::Machine& after, bool done);

 private:
  std::vector<std::vector<std::byte>> areas_;
  mem::AddressSpace space_;
  std::vector<mem::Surface> surfaces_;
  jit::Environment environment_;
};

}  // namespace lsc_bed
