// Prints files, kernels and their declarations. There are no scopes: the parser gave their variables unique
// names.
#include "frontend/visa/printer.hpp"

#include <fmt/format.h>

#include "frontend/visa/instruction_printer.hpp"

namespace eum::visa {
namespace {

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void kernel(const Kernel& kernel) {
    out_ += kernel.is_function ? ".global_function " : ".kernel ";
    append_quoted(out_, kernel.name);
    out_ += '\n';
    for (const Variable& variable : kernel.variables)
      if (!variable.predefined) decl(kernel, variable);
    for (const Input& input : kernel.inputs) this->input(kernel, input);
    for (const Attribute& attribute : kernel.attributes) {
      out_ += ".kernel_attr ";
      this->attribute(attribute);
      out_ += std::holds_alternative<std::monostate>(attribute.value) ? "=\n" : "\n";
    }
    InstructionPrinter instructions(kernel, out_);
    for (const Instruction& inst : kernel.instructions) {
      const bool at_start = inst.opcode == Opcode::label || inst.opcode == Opcode::subroutine;
      if (!at_start) out_ += "    ";
      instructions.print(inst);
      out_ += '\n';
    }
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void decl(const Kernel& kernel, const Variable& variable) {
    append(".decl {} v_type={}", variable.name, "GAPST"[static_cast<std::size_t>(variable.kind)]);
    if (variable.kind == VariableKind::General) append(" type={}", info(variable.type).name);
    append(" num_elts={}", variable.elements);
    if (!variable.align.empty()) append(" align={}", variable.align);
    if (variable.alias != no_variable)
      append(" alias=<{}, {}>", kernel.variables[variable.alias].name, variable.alias_offset);
    if (!variable.symbol.empty()) append(" v_name={}", variable.symbol);
    attributes(variable.attributes);
    out_ += '\n';
  }

  void input(const Kernel& kernel, const Input& input) {
    append(".{} {} offset={}", input.directive, kernel.variables[input.variable].name, input.offset);
    if (input.size != 0) append(" size={}", input.size);
    attributes(input.attributes);
    out_ += '\n';
  }

  void attributes(const std::vector<Attribute>& list) {
    if (list.empty()) return;
    std::string_view before = " attrs={";
    for (const Attribute& attribute : list) {
      out_ += before;
      this->attribute(attribute);
      before = ", ";
    }
    out_ += '}';
  }

  void attribute(const Attribute& attribute) {
    out_ += attribute.name;
    if (const auto* number = std::get_if<std::int64_t>(&attribute.value)) append("={}", *number);
    if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      out_ += '=';
      append_quoted(out_, *text);
    }
  }

  std::string& out_;
};

}  // namespace

std::string print(const Module& module) {
  std::string out = fmt::format(".version {}.{}\n", module.major, module.minor);
  for (const Kernel& kernel : module.kernels) Printer(out).kernel(kernel);
  return out;
}

std::string print(const Kernel& kernel, const Instruction& instruction) {
  std::string out;
  InstructionPrinter(kernel, out).print(instruction);
  return out;
}

}  // namespace eum::visa
