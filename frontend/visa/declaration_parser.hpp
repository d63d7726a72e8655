#pragma once
// Directives that declare: .decl, .input, .implicit_NAME, .kernel_attr. It must not know instructions.
#include <string>
#include <string_view>

#include "frontend/visa/lexer.hpp"
#include "frontend/visa/names.hpp"

namespace eum::visa {

class DeclarationParser {
 public:
  DeclarationParser(Lexer& in, Names& names, Kernel& kernel) : in_(in), names_(names), kernel_(kernel) {}

  // Each parses the text after the directive's word.
  bool decl();
  bool input(std::string_view directive, Location place);
  bool kernel_attribute();

 private:
  bool key(std::string_view word, Variable& variable);
  bool kind(Variable& variable);
  bool elements(Variable& variable);
  bool align(Variable& variable);
  bool alias(Variable& variable);
  bool check(const Variable& variable);
  bool attributes(std::vector<Attribute>& out);
  bool attribute(Attribute& out, bool list);

  Lexer& in_;
  Names& names_;
  Kernel& kernel_;
  std::uint64_t bytes_ = 0;  ///< total of all variables with storage
};

}  // namespace eum::visa
