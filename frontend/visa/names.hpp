#pragma once
// The meaning of names in a kernel's text: its variables, in scopes, and its labels, which branches may name
// before they are defined. It must not know the text's syntax.
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

class Names {
 public:
  /// Adds the predefined variables to the kernel.
  explicit Names(Kernel& kernel);

  /// The variable declared so far as `name`, or no_variable.
  VariableId find(std::string_view name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? no_variable : found->second.id;
  }
  /// Adds a variable; false if its name is declared in this scope or predefined. `name` is part of the text.
  bool declare(std::string_view name, Variable variable);

  void enter_scope() { scopes_.push_back(hidden_.size()); }
  /// Returns false if there is no scope.
  bool leave_scope();
  bool in_scope() const { return !scopes_.empty(); }

  /// Records a reference to a label by a branch at `place`.
  LabelId refer(std::string_view label, Location place);
  /// Defines a label before instruction `instruction`; returns false if its name is already defined.
  bool define(std::string_view label, std::uint32_t instruction, LabelId& id);
  /// The first label that a branch names but that is not defined; empty if there is none.
  struct Missing {
    std::string_view name;
    Location place;
  };
  Missing missing_label() const;

  /// Gives variables of different scopes different names, so that the kernel can be written without scopes.
  void make_unique();

  /// The variable that has the storage, and the offset from its first byte.
  const Kernel::Place& place(VariableId id) const { return places_[id]; }
  /// The number of aliases from it to that variable.
  unsigned depth(VariableId id) const { return depths_[id]; }

 private:
  struct Entry {
    VariableId id;
    std::size_t scope;  ///< number of scopes around it; 0 for the kernel's own variables
    bool fixed;         ///< predefined with this very name
  };
  struct Hidden {
    std::string_view name;
    Entry entry;  ///< id is no_variable: the name had no meaning
  };
  struct LabelEntry {
    LabelId id;
    bool defined;
    Location place;
  };
  void add(std::string_view name, Variable variable, bool fixed);

  Kernel& kernel_;
  std::unordered_map<std::string_view, Entry> variables_;
  std::unordered_map<std::string_view, LabelEntry> labels_;
  std::vector<Hidden> hidden_;
  std::vector<std::size_t> scopes_;
  std::vector<Kernel::Place> places_;
  std::vector<std::uint16_t> depths_;
  bool scoped_ = false;  ///< some variable was declared in a scope
};

}  // namespace eum::visa
