// Variables in scopes, and labels.
#include "frontend/visa/names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "frontend/visa/variable.hpp"

namespace eum::visa {

Names::Names(Kernel& kernel) : kernel_(kernel) {
  for (const PredefinedInfo& row : predefined_table) {
    Variable variable;
    variable.kind = row.kind;
    variable.type = row.type;
    variable.predefined = true;
    variable.elements = row.elements;
    // Variables of a register or more are aligned to whole registers.
    variable.align_bytes =
        static_cast<std::uint16_t>(std::min<std::uint64_t>(std::bit_floor(variable.bytes()), 64));
    variable.name = row.text;
    add(row.text, std::move(variable), true);
  }
  VariableId id = 0;
  for (const PredefinedInfo& row : predefined_table) {
    if (!row.alternate.empty()) variables_.try_emplace(row.alternate, Entry{id, 0, false});
    ++id;
  }
}

void Names::add(std::string_view name, Variable variable, bool fixed) {
  const auto id = static_cast<VariableId>(kernel_.variables.size());
  Kernel::Place place{id, 0};
  std::uint16_t depth = 0;
  if (variable.alias != no_variable) {
    place = places_[variable.alias];
    place.offset += variable.alias_offset;
    depth = static_cast<std::uint16_t>(depths_[variable.alias] + 1);
  }
  kernel_.variables.push_back(std::move(variable));
  places_.push_back(place);
  depths_.push_back(depth);
  variables_[name] = Entry{id, scopes_.size(), fixed};
}

bool Names::declare(std::string_view name, Variable variable) {
  const auto found = variables_.find(name);
  const bool known = found != variables_.end();
  if (known) {
    const Entry& entry = found->second;
    const bool alternate = kernel_.variables[entry.id].predefined && !entry.fixed;
    if (entry.fixed || (!alternate && entry.scope == scopes_.size())) return false;
  }
  if (!scopes_.empty()) {
    hidden_.push_back({name, known ? found->second : Entry{no_variable, 0, false}});
    scoped_ = true;
  }
  add(name, std::move(variable), false);
  return true;
}

bool Names::leave_scope() {
  if (scopes_.empty()) return false;
  for (; hidden_.size() > scopes_.back(); hidden_.pop_back()) {
    const Hidden& hidden = hidden_.back();
    if (hidden.entry.id == no_variable)
      variables_.erase(hidden.name);
    else
      variables_[hidden.name] = hidden.entry;
  }
  scopes_.pop_back();
  return true;
}

LabelId Names::refer(std::string_view label, Location place) {
  const auto [found, fresh] =
      labels_.try_emplace(label, LabelEntry{static_cast<LabelId>(kernel_.labels.size()), false, place});
  if (fresh) kernel_.labels.push_back({std::string(label), 0});
  return found->second.id;
}

bool Names::define(std::string_view label, std::uint32_t instruction, LabelId& id) {
  id = refer(label, {});
  LabelEntry& entry = labels_.find(label)->second;
  if (entry.defined) return false;
  entry.defined = true;
  kernel_.labels[id].instruction = instruction;
  return true;
}

Names::Missing Names::missing_label() const {
  Missing first;
  for (const auto& [name, entry] : labels_) {
    if (entry.defined) continue;
    const bool earlier = entry.place.line < first.place.line ||
                         (entry.place.line == first.place.line && entry.place.column < first.place.column);
    if (first.name.empty() || earlier) first = {name, entry.place};
  }
  return first;
}

void Names::make_unique() {
  if (!scoped_) return;
  std::unordered_set<std::string> all;
  for (const Variable& variable : kernel_.variables) all.insert(variable.name);
  std::unordered_set<std::string_view> taken;
  std::unordered_map<std::string, unsigned> last;  // last number given to a variable of that name
  for (Variable& variable : kernel_.variables) {
    if (!taken.contains(variable.name)) {
      taken.insert(variable.name);
      continue;
    }
    unsigned& number = last[variable.name];
    std::string name;
    do name = fmt::format("{}_{}", variable.name, ++number);
    while (!all.insert(name).second);
    variable.name = std::move(name);
  }
}

}  // namespace eum::visa
