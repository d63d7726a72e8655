// Optimisations by name.
#include "jit/optimisations.hpp"

#include <algorithm>

namespace eum::jit {

std::string optimisation_names() {
  std::string names;
  for (const OptimisationInfo& row : optimisation_table)
    if (row.can_be_disabled()) (names += names.empty() ? "" : ", ") += row.name;
  return names;
}

Result<Optimisations> without(std::span<const std::string> names) {
  Optimisations left;
  for (const std::string& name : names) {
    if (name == every_optimisation) {
      for (const OptimisationInfo& row : optimisation_table) left.disable(row.optimisation);
      continue;
    }
    const auto row = std::ranges::find(optimisation_table, name, &OptimisationInfo::name);
    if (row == std::end(optimisation_table))
      return error("expected {} or one of {}, found '{}'", every_optimisation, optimisation_names(), name);
    if (!row->can_be_disabled())
      return error("expected {} or one of {}, found {}, which is needed", every_optimisation,
                   optimisation_names(), name);
    left.disable(row->optimisation);
  }
  return left;
}

}  // namespace eum::jit
