#pragma once
// The variables that each kernel has without declaring them. Their ids come first in Kernel::variables.
#include <array>
#include <string_view>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

enum class PredefinedVariable : VariableId {
#define VISA_PREDEFINED(name, ...) name,
#include "frontend/visa/variables.def"
#undef VISA_PREDEFINED
};

struct PredefinedInfo {
  VariableKind kind;
  Type type;
  std::uint32_t elements;
  std::string_view text;
  std::string_view alternate;  ///< another spelling, unless a declaration uses it; empty: none
};

inline constexpr PredefinedInfo predefined_table[] = {
#define VISA_PREDEFINED(name, kind, type, elements, text, alternate) \
  {VariableKind::kind, Type::type, elements, text, alternate},
#include "frontend/visa/variables.def"
#undef VISA_PREDEFINED
};
inline constexpr std::size_t predefined_count = std::size(predefined_table);

constexpr VariableId id(PredefinedVariable variable) { return static_cast<VariableId>(variable); }

}  // namespace eum::visa
