// Names of families come from families.def.
#include "runtime/cli/family_option.hpp"

namespace eum::cli {

std::string family_names() {
  std::string names;
  for (const gen::FamilyInfo& family : gen::family_table) {
    if (!names.empty()) names += ", ";
    names += family.name;
    names[names.size() - family.name.size()] = 'g';
  }
  return names;
}

Result<gen::Family> family_of(const std::string& text) {
  if (const auto family = gen::parse_family(text)) return *family;
  return error("--family: expected one of {}, found '{}'", family_names(), text);
}

}  // namespace eum::cli
