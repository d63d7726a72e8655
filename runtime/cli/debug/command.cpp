// Splits words at blanks; finds a verb by name, alias or unambiguous prefix of a name.
#include "runtime/cli/debug/command.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <vector>

namespace eum::cli::debug {
namespace {

struct CommandInfo {
  std::string_view name, alias;
  Takes takes;
  std::string_view help;
};

constexpr auto command_table = [] {
  using enum Takes;
  return std::to_array<CommandInfo>({
#define DEBUG_COMMAND(name, alias, takes, help) {#name, alias, takes, help},
#include "runtime/cli/debug/commands.def"
#undef DEBUG_COMMAND
  });
}();

/// Without the `_` that distinguishes a name from a C++ keyword.
constexpr std::string_view name_of(const CommandInfo& info) {
  return info.name.ends_with('_') ? info.name.substr(0, info.name.size() - 1) : info.name;
}

struct RegisterName {
  std::string_view name;
  RegisterKind kind;
  bool numbered;  ///< followed by a number
  gen::Type type;
};
constexpr RegisterName register_names[] = {
    {"acc", RegisterKind::Accumulator, true, gen::Type::f},
    {"cr", RegisterKind::Control, true, gen::Type::ud},
    {"sr", RegisterKind::State, true, gen::Type::ud},
    {"tm", RegisterKind::Timestamp, true, gen::Type::ud},
    {"ce", RegisterKind::ExecutionMask, false, gen::Type::ud},
    {"ip", RegisterKind::InstructionPointer, false, gen::Type::ud},
    {"r", RegisterKind::General, true, gen::Type::ud},
    {"f", RegisterKind::Flag, true, gen::Type::uw},
    {"a", RegisterKind::Address, true, gen::Type::uw},
    {"n", RegisterKind::Notification, true, gen::Type::ud},
};

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> number32(std::string_view text) {
  const auto value = number(text);
  if (!value || *value > ~std::uint32_t{0}) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (;;) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

Result<Verb> verb_of(std::string_view word) {
  std::string possible;
  Verb found = Verb::help;
  unsigned count = 0;
  for (std::size_t i = 0; i < command_table.size(); ++i) {
    const std::string_view name = name_of(command_table[i]);
    if (word == name || word == command_table[i].alias) return static_cast<Verb>(i);
    if (!name.starts_with(word)) continue;
    possible += (count++ == 0 ? "" : ", ") + std::string(name);
    found = static_cast<Verb>(i);
  }
  if (count == 1) return found;
  if (!possible.empty()) return error("'{}' may mean {}", word, possible);
  return error("no command '{}': help lists them", word);
}

/// Takes a type such as "f" after a colon, if there is one; types of immediates are not valid for registers.
Result<gen::Type> take_type(std::string_view& text, gen::Type otherwise) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return otherwise;
  const std::string_view name = text.substr(colon + 1);
  text = text.substr(0, colon);
  std::string names;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(gen::Type::df); ++i) {
    if (gen::type_table[i].name == name) return static_cast<gen::Type>(i);
    names += (names.empty() ? "" : ", ") + std::string(gen::type_table[i].name);
  }
  return error("expected one of the types {}, found '{}'", names, name);
}

Result<RegisterText> register_of(const std::string_view word) {
  std::string_view text = word;
  const auto wrong = [&] {
    return error("expected a register such as r12:f, r3.1:uw, acc0, f0.1, a0, cr0, sr0, ce or ip, found '{}'",
                 word);
  };
  const std::string_view name_text = text.substr(0, text.find_first_of("0123456789.:"));
  for (const RegisterName& name : register_names) {
    if (name.name != name_text) continue;
    const auto type = take_type(text, name.type);
    if (!type) return type.error();
    RegisterText result;
    result.kind = name.kind;
    result.type = *type;
    text.remove_prefix(name.name.size());
    if (const auto dot = text.find('.'); dot != std::string_view::npos) {
      result.sub = number32(text.substr(dot + 1));
      if (!result.sub) return wrong();
      text = text.substr(0, dot);
    }
    if (!name.numbered) {
      if (!text.empty() || result.sub) return wrong();
      return result;
    }
    const auto which = number32(text);
    if (!which) return wrong();
    result.number = *which;
    return result;
  }
  return wrong();
}

Result<MemoryText> memory_of(const std::string_view word) {
  std::string_view text = word;
  const auto wrong = [&] {
    return error("expected 0xADDRESS, sN+OFFSET, slm+OFFSET or scratch+OFFSET, found '{}'", word);
  };
  MemoryText result;
  const auto type = take_type(text, result.type);
  if (!type) return type.error();
  result.type = *type;
  const auto plus = text.find('+');
  const std::string_view base = text.substr(0, plus);
  if (const auto address = number(base)) {
    if (plus != std::string_view::npos) return wrong();
    result.offset = *address;
    return result;
  }
  if (base == "slm") {
    result.kind = MemoryKind::Slm;
  } else if (base == "scratch") {
    result.kind = MemoryKind::Scratch;
  } else if (base.starts_with('s')) {
    const auto surface = number32(base.substr(1));
    if (!surface) return wrong();
    result.kind = MemoryKind::Surface;
    result.surface = *surface;
  } else {
    return wrong();
  }
  if (plus == std::string_view::npos) return result;
  const auto offset = number(text.substr(plus + 1));
  if (!offset) return wrong();
  result.offset = *offset;
  return result;
}

Result<PlaceText> place_of(std::string_view word) {
  PlaceText result;
  const auto wrong = [&] {
    return error("expected 0x40, KERNEL+0x40, FILE:LINE or :LINE, found '{}'", word);
  };
  if (const auto ip = number32(word)) {
    result.ip = *ip;
    return result;
  }
  if (const auto plus = word.rfind('+'); plus != std::string_view::npos) {
    if (const auto ip = number32(word.substr(plus + 1)); ip && plus != 0) {
      result.name = word.substr(0, plus);
      result.ip = *ip;
      return result;
    }
    return wrong();
  }
  const auto colon = word.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  result.line = number32(word.substr(colon + 1));
  if (!result.line) return wrong();
  result.name = word.substr(0, colon);
  return result;
}

}  // namespace

Result<Command> parse_command(std::string_view line) {
  const auto words = words_of(line);
  if (words.empty()) return error("expected a command: help lists them");
  const auto verb = verb_of(words[0]);
  if (!verb) return verb.error();
  Command command;
  command.verb = *verb;
  const CommandInfo& info = command_table[static_cast<std::size_t>(*verb)];
  std::size_t used = 1;
  const bool operand =
      info.takes == Takes::Place || info.takes == Takes::Register || info.takes == Takes::Memory;
  if (operand) {
    if (words.size() < 2) return error("{}: expected more: {}", name_of(info), info.help);
    used = 2;
  }
  switch (info.takes) {
    case Takes::Place: {
      auto place = place_of(words[1]);
      if (!place) return place.error();
      command.place = std::move(*place);
      break;
    }
    case Takes::Register: {
      const auto reg = register_of(words[1]);
      if (!reg) return reg.error();
      command.reg = *reg;
      break;
    }
    case Takes::Memory: {
      const auto memory = memory_of(words[1]);
      if (!memory) return memory.error();
      command.memory = *memory;
      break;
    }
    default:
      break;
  }
  if (info.takes != Takes::None && info.takes != Takes::Place && words.size() > used) {
    command.count = number(words[used]);
    if (!command.count || *command.count > max_count)
      return error("{}: expected a number up to {}, found '{}'", name_of(info), max_count, words[used]);
    ++used;
  }
  if (words.size() > used) return error("{}: found '{}' behind what it takes", name_of(info), words[used]);
  return command;
}

std::string help_text() {
  constexpr std::string_view operands[] = {"", "[COUNT]", "[NUMBER]", "PLACE", "REGISTER", "MEMORY"};
  std::string text;
  for (const CommandInfo& info : command_table) {
    const std::string words = fmt::format("{}{}{} {}", name_of(info), info.alias.empty() ? "" : ", ",
                                          info.alias, operands[static_cast<std::size_t>(info.takes)]);
    text += fmt::format("  {:<24} {}\n", words, info.help);
  }
  return text;
}

}  // namespace eum::cli::debug
