// Parses files, kernels and lines of vISA text.
#include "frontend/visa/parser.hpp"

#include <memory>
#include <unordered_set>

#include "frontend/visa/declaration_parser.hpp"
#include "frontend/visa/instruction_parser.hpp"
#include "frontend/visa/lexer.hpp"
#include "frontend/visa/names.hpp"

namespace eum::visa {
namespace {

/// A compiler writes one file per kernel and its callees. Each kernel has all predefined variables, so
/// without a limit a small text would take much memory.
constexpr std::size_t max_kernels = 1024;

/// The parsers of a kernel's lines.
struct KernelParser {
  KernelParser(Lexer& in, Kernel& kernel)
      : names(kernel), declarations(in, names, kernel), instructions(in, names, kernel) {}
  Names names;
  DeclarationParser declarations;
  InstructionParser instructions;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Result<Module> module() {
    if (version()) {
      while (!in_.at_text_end() && line()) {
      }
    }
    if (!in_.failed()) end_kernel();
    if (in_.failed()) return in_.error();
    return std::move(module_);
  }

 private:
  bool version() {
    if (in_.at_text_end() || !in_.accept(std::string_view(".version"))) return in_.fail(".version");
    return in_.number(module_.major, 255, "a version") && in_.expect('.') &&
           in_.number(module_.minor, 255, "a version") && in_.line_end();
  }

  bool line() {
    const char c = in_.peek();
    if (c == '.') return directive() && in_.line_end();
    if (!kernel_) return in_.fail(".kernel or .global_function");
    if (c == '{') return in_.accept('{') && (kernel_->names.enter_scope(), in_.line_end());
    if (c == '}') {
      if (!kernel_->names.leave_scope()) return in_.fail("no end of a scope where none is open");
      return in_.accept('}') && in_.line_end();
    }
    if (c != '(') {
      const Location place = in_.location();
      const std::string_view label = in_.label();
      if (!label.empty()) return kernel_->instructions.label(label, place) && in_.line_end();
    }
    return kernel_->instructions.instruction() && in_.line_end();
  }

  bool directive() {
    const Location place = in_.location();
    in_.accept('.');
    const std::string_view word = in_.tail();
    if (word == "kernel" || word == "global_function") return kernel(word != "kernel");
    if (!kernel_ && (word == "decl" || word == "input" || word == "function"))
      return in_.fail_at(place, ".kernel or .global_function");
    if (!kernel_) return in_.fail_at(place, "a directive");
    if (word == "decl") return kernel_->declarations.decl();
    if (word == "input" || word.starts_with("implicit")) return kernel_->declarations.input(word, place);
    if (word == "kernel_attr") return kernel_->declarations.kernel_attribute();
    if (word == "function") return kernel_->instructions.directive(Opcode::subroutine, place);
    if (word == "file" || word == "FILE") return kernel_->instructions.directive(Opcode::file, place);
    if (word == "loc" || word == "LOC") return kernel_->instructions.directive(Opcode::loc, place);
    std::string ignored;  // .funcdecl only informs readers of the functions that the file calls
    if (word == "funcdecl") return in_.quoted(ignored);
    return in_.fail_at(place, "a directive");
  }

  bool kernel(bool is_function) {
    if (!end_kernel()) return false;
    const Location place = in_.location();
    if (module_.kernels.size() == max_kernels)
      return in_.fail(fmt::format("at most {} kernels", max_kernels));
    Kernel& kernel = module_.kernels.emplace_back();
    kernel.is_function = is_function;
    if (in_.peek() == '"') {
      if (!in_.quoted(kernel.name)) return false;
    } else {
      kernel.name = in_.word();
    }
    if (kernel.name.empty()) return in_.fail_at(place, "a name");
    if (!kernel_names_.insert(kernel.name).second)
      return in_.fail_at(place, "a name that no kernel before has", kernel.name);
    kernel_.emplace(in_, kernel);
    return true;
  }

  bool end_kernel() {
    if (!kernel_) return true;
    if (kernel_->names.in_scope()) return in_.fail("'}'");
    const Names::Missing missing = kernel_->names.missing_label();
    if (!missing.name.empty()) return in_.fail_at(missing.place, "a label of this kernel", missing.name);
    kernel_->names.make_unique();
    kernel_.reset();
    return true;
  }

  Lexer in_;
  Module module_;
  std::optional<KernelParser> kernel_;
  std::unordered_set<std::string> kernel_names_;
};

}  // namespace

Result<Module> parse(std::string_view text) { return Parser(text).module(); }

}  // namespace eum::visa
