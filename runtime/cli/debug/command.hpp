#pragma once
// Parses a debugger's command line into a Command, with errors that say what was expected. It must not know
// what a command does.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/gen/type.hpp"
#include "memory/base/result.hpp"

namespace eum::cli::debug {

enum class Verb : std::uint8_t {
#define DEBUG_COMMAND(name, ...) name,
#include "runtime/cli/debug/commands.def"
#undef DEBUG_COMMAND
};

/// Arguments that a verb takes.
enum class Takes : std::uint8_t { None, Count, Number, Place, Register, Memory };

/// Where to stop: an instruction, in a given kernel if one is named, or a source line.
struct PlaceText {
  std::string name;  ///< kernel, or file; may be empty
  std::optional<std::uint32_t> line;
  std::uint32_t ip = 0;
};

enum class RegisterKind : std::uint8_t {
  General,
  Accumulator,
  Flag,
  Address,
  Control,
  State,
  Notification,
  Timestamp,
  ExecutionMask,
  InstructionPointer,
};

struct RegisterText {
  RegisterKind kind = RegisterKind::General;
  std::uint32_t number = 0;
  std::optional<std::uint32_t> sub;  ///< in elements
  gen::Type type = gen::Type::ud;
};

enum class MemoryKind : std::uint8_t { Address, Surface, Slm, Scratch };

struct MemoryText {
  MemoryKind kind = MemoryKind::Address;
  std::uint32_t surface = 0;
  std::uint64_t offset = 0;  ///< or address
  gen::Type type = gen::Type::ud;
};

struct Command {
  Verb verb = Verb::help;
  std::optional<std::uint64_t> count;  ///< Count, Number, Register, Memory: if given
  PlaceText place;
  RegisterText reg;
  MemoryText memory;
};

/// `line` must not be blank.
Result<Command> parse_command(std::string_view line);

/// The output of `help`.
std::string help_text();

/// The largest count accepted.
inline constexpr std::uint64_t max_count = std::uint64_t{1} << 32;

}  // namespace eum::cli::debug
