#pragma once
// A file of vISA text as data: kernels and functions with their variables, inputs, attributes and
// instructions. Produced by the parser, read by printer and lowering. It must not know what an instruction
// does.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "frontend/visa/lsc.hpp"
#include "frontend/visa/opcode.hpp"
#include "frontend/visa/type.hpp"

namespace eum::visa {

/// Index in Kernel::variables; predefined variables come first (variables.def).
using VariableId = std::uint32_t;
using LabelId = std::uint32_t;
inline constexpr VariableId no_variable = ~VariableId{0};

/// Position in the text; both count from 1.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

enum class VariableKind : std::uint8_t { General, Address, Predicate, Sampler, Surface };

/// {name=value} or {name}, of a variable, an input or a kernel.
struct Attribute {
  std::string name;
  std::variant<std::monostate, std::int64_t, std::string> value;
};

struct Variable {
  VariableKind kind = VariableKind::General;
  Type type = Type::ud;        ///< if General; Address: uw
  bool predefined = false;     ///< %r0 and others without a .decl
  std::uint32_t elements = 0;  ///< Predicate: bits
  std::string align;           ///< as spelled in the text: "dword", "hword", "wordx32"; empty: none
  std::uint16_t align_bytes = 1;
  VariableId alias = no_variable;  ///< the variable whose storage it shares, which may be an alias itself
  std::uint32_t alias_offset = 0;  ///< bytes
  std::string name;
  std::string symbol;  ///< v_name=, for samplers and surfaces
  std::vector<Attribute> attributes;
  Location location;

  constexpr std::uint64_t bytes() const { return std::uint64_t{elements} * info(type).bytes; }
};

/// .input and .implicit_NAME: where a variable is in the thread's payload.
struct Input {
  VariableId variable = no_variable;
  std::uint32_t offset = 0;  ///< bytes from r0
  std::uint32_t size = 0;    ///< bytes; 0: not given, that of the variable
  std::string directive;     ///< "input", "implicit_LOCAL_SIZE", ...
  std::vector<Attribute> attributes;
  Location location;
};

enum class SourceModifier : std::uint8_t { None, Neg, Abs, NegAbs, Not };

/// <vertical; width, horizontal> of a source, <horizontal> of a destination, in elements.
struct Region {
  /// `vertical` of an indirect source with one address per row: <width, horizontal>.
  static constexpr std::uint8_t no_stride = 0xff;
  std::uint8_t vertical = 0;
  std::uint8_t width = 1;
  std::uint8_t horizontal = 0;
  constexpr bool operator==(const Region&) const = default;
};

enum class OperandKind : std::uint8_t {
  None,       ///< the instruction has no such operand
  Null,       ///< %null
  General,    ///< NAME(row,column)<region>; `row` in registers, `column` in elements
  Indirect,   ///< r[NAME(column),offset]<region>:type
  Immediate,  ///< value:type
  Address,    ///< NAME(column)<width>: elements of an address variable
  AddressOf,  ///< &NAME[offset]: of a general or surface variable
  Predicate,  ///< NAME
  State,      ///< NAME(column): an element of a surface or sampler variable
  Raw,        ///< NAME.column: `column` in bytes
  Name,       ///< NAME only: the surface or sampler of a message
  Label,      ///< target of a branch, or the label itself
  Function,   ///< name of a function: `variable` indexes Kernel::strings
  Text,       ///< a string: `variable` indexes Kernel::strings
};

struct Operand {
  OperandKind kind = OperandKind::None;
  Type type = Type::ud;  ///< of Indirect and Immediate; other operands have their variable's type
  SourceModifier modifier = SourceModifier::None;
  Region region;
  VariableId variable = no_variable;  ///< Label: a LabelId
  std::uint16_t row = 0;
  std::uint32_t column = 0;
  std::int32_t offset = 0;      ///< bytes: Indirect, AddressOf
  std::uint64_t immediate = 0;  ///< zero-extended from the type's size

  constexpr bool present() const { return kind != OperandKind::None; }
};

/// (!P1.any): which channels an instruction acts on.
struct Predicate {
  enum class Combine : std::uint8_t { None, Any, All };
  VariableId variable = no_variable;  ///< no_variable: no predicate
  Combine combine = Combine::None;
  bool inverse = false;
};

enum class Condition : std::uint8_t { None, eq, ne, gt, ge, lt, le };

struct Instruction {
  Opcode opcode{};
  std::uint8_t exec_size = 1;
  std::uint8_t channel_offset = 0;  ///< (M1, ...) is 0, (M2, ...) 4, (M5, ...) 16
  bool no_mask = false;             ///< (M1_NM, ...)
  bool saturate = false;
  Condition condition = Condition::None;  ///< of cmp
  std::uint16_t operand_count = 0;
  Predicate predicate;
  std::uint32_t first_operand = 0;  ///< in Kernel::operands, in the order of the text (forms.def)
  std::uint32_t lsc = 0;            ///< for lsc instructions: index in Kernel::lsc
  /// The values of the name's suffixes and of plain numbers, in the order of the form (forms.def).
  std::array<std::uint32_t, 6> suffix{};
  Location location;
};

/// .kernel or .global_function, with everything declared in it.
struct Kernel {
  std::string name;
  bool is_function = false;  ///< .global_function: called by fcall
  std::vector<Variable> variables;
  std::vector<Input> inputs;
  std::vector<Attribute> attributes;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Lsc> lsc;
  std::vector<std::string> strings;
  struct Label {
    std::string name;
    std::uint32_t instruction = 0;  ///< index of the label's own instruction
  };
  std::vector<Label> labels;

  std::span<const Operand> operands_of(const Instruction& inst) const {
    return std::span(operands).subspan(inst.first_operand, inst.operand_count);
  }
  /// The variable that has the storage, found by following aliases, and the sum of their offsets.
  struct Place {
    VariableId root;
    std::uint64_t offset;  ///< bytes
  };
  Place place(VariableId id) const {
    std::uint64_t offset = 0;
    while (variables[id].alias != no_variable) {
      offset += variables[id].alias_offset;
      id = variables[id].alias;
    }
    return {id, offset};
  }
};

struct Module {
  unsigned major = 0, minor = 0;  ///< .version
  std::vector<Kernel> kernels;    ///< .kernel and .global_function, in the order of the text
};

}  // namespace eum::visa
