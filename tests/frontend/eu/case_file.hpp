#pragma once
// Lowering cases as text: register contents before, GEN assembly with its bytes, register contents after.
// README.md next to cases/*.gen describes the format. Independent of engines.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/family.hpp"
#include "frontend/gen/type.hpp"
#include "memory/base/result.hpp"

namespace eum::test {

/// Elements of a register, a flag register, the execution mask or a surface.
struct Contents {
  enum class Place : std::uint8_t { File, Flags, Mask, Surface, Scratch, Memory, LowMemory };
  Place place = Place::File;
  unsigned offset = 0;  ///< File: bytes; Flags: bits; Surface: binding table index; the rest: bytes
  gen::Type type = gen::Type::ud;
  std::string text;  ///< the place as the case file spells it
  /// The bits of an element, or `keep`: the element is unchanged.
  struct Element {
    std::uint64_t bits = 0;
    bool keep = false;
    bool any_nan = false;
  };
  std::vector<Element> elements;
};

/// A surface that is an image: linear, without gaps between rows.
struct ImageShape {
  unsigned surface = 0;
  unsigned width = 1, height = 1;
  std::string format;  ///< name as in the manual
};

struct Case {
  std::string name;
  unsigned line = 0;
  gen::Family family = gen::Family::Gen9;
  unsigned simd = 8;
  std::vector<Contents> before, after;
  std::vector<ImageShape> images;
  bool linear_filter = false;              ///< of sampler 0, which clamps and takes texel coordinates
  std::optional<unsigned> system_routine;  ///< byte offset in the code
  std::string fault;                       ///< part of the trap's text; empty: the thread ends
  std::vector<std::byte> code;
};

/// Parses a case file; an error names its line.
Result<std::vector<Case>> parse_cases(std::string_view text);

}  // namespace eum::test
