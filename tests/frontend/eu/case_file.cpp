// Parser for lowering cases.
#include "tests/frontend/eu/case_file.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/semantics/half.hpp"

namespace eum::test {
namespace {

std::optional<gen::Type> parse_type(std::string_view name) {
  for (std::size_t i = 0; i + 1 < gen::type_table.size(); ++i)
    if (gen::type_table[i].name == name) return static_cast<gen::Type>(i);
  return std::nullopt;
}

std::optional<unsigned> parse_number(std::string_view text) {
  unsigned value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Contents::Element> parse_element(gen::Type type, const std::string& text) {
  Contents::Element element;
  if (text == "keep") {
    element.keep = true;
    return element;
  }
  unsigned bits = 8 * gen::size_of(type);
  std::uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
  char* end = nullptr;
  if (text.starts_with("0x")) {
    element.bits = std::strtoull(text.c_str(), &end, 16);
    if (*end != 0 || (element.bits & ~ones) != 0) return std::nullopt;
    return element;
  }
  if (!gen::is_float(type)) {
    element.bits = text.starts_with("-") ? static_cast<std::uint64_t>(std::strtoll(text.c_str(), &end, 10))
                                         : std::strtoull(text.c_str(), &end, 10);
    element.bits &= ones;
    return *end == 0 && !text.empty() ? std::optional(element) : std::nullopt;
  }
  double value = std::strtod(text.c_str(), &end);
  if (*end != 0 || text.empty()) return std::nullopt;
  element.any_nan = std::isnan(value);
  auto single = static_cast<float>(value);
  if (type == gen::Type::df)
    std::memcpy(&element.bits, &value, 8);
  else if (type == gen::Type::f)
    std::memcpy(&element.bits, &single, 4);
  else
    element.bits = ir::to_half(single).bits;
  return element;
}

/// r2.3:d, acc0:f, acch0:d (high plane), a0.1:uw, cr0:ud, f0.1, mask, surface0:ud, scratch0:ud, memory0:ud,
/// low0:ud.
std::optional<Contents> parse_place(std::string_view text) {
  Contents c;
  c.text = text;
  if (text == "mask") {
    c.place = Contents::Place::Mask;
    return c;
  }
  std::size_t colon = text.find(':');
  if (colon != text.npos) {
    std::optional<gen::Type> type = parse_type(text.substr(colon + 1));
    if (!type) return std::nullopt;
    c.type = *type;
    text = text.substr(0, colon);
  }
  std::size_t digits = text.find_first_of("0123456789");
  if (digits == text.npos) return std::nullopt;
  std::string_view name = text.substr(0, digits), rest = text.substr(digits);
  std::size_t dot = rest.find('.');
  std::optional<unsigned> reg = parse_number(rest.substr(0, dot));
  std::optional<unsigned> sub = dot == rest.npos ? 0 : parse_number(rest.substr(dot + 1));
  if (!reg || !sub) return std::nullopt;
  if (name == "f") {
    c.place = Contents::Place::Flags;
    c.type = colon == text.npos ? gen::Type::uw : c.type;
    c.offset = 32 * *reg + 16 * *sub;
    return c;
  }
  if (name == "surface") {
    c.place = Contents::Place::Surface;
    c.offset = *reg;
    return c;
  }
  if (name == "scratch" || name == "memory" || name == "low") {
    c.place = name == "scratch"  ? Contents::Place::Scratch
              : name == "memory" ? Contents::Place::Memory
                                 : Contents::Place::LowMemory;
    c.offset = *reg;
    return c;
  }
  unsigned base = 0;
  if (name == "acc" || name == "acch")
    base = gen::target(gen::Family::Gen9).offset(eu::StateRegister::Accumulator) +
           (name == "acch" ? gen::target(gen::Family::Gen9).bytes(eu::StateRegister::Accumulator) : 0);
  else if (name == "a")
    base = gen::target(gen::Family::Gen9).offset(eu::StateRegister::Address);
  else if (name == "cr")
    base = gen::target(gen::Family::Gen9).offset(eu::StateRegister::Control);
  else if (name == "sr")
    base = gen::target(gen::Family::Gen9).offset(eu::StateRegister::State);
  else if (name == "dbg")
    base = gen::target(gen::Family::Gen9).offset(eu::StateRegister::Debug);
  else if (name == "n")
    base = gen::target(gen::Family::Gen9).offset(eu::StateRegister::Notification);
  else if (name != "r")
    return std::nullopt;
  c.offset = base + 32 * *reg + gen::size_of(c.type) * *sub;
  return c;
}

/// `place values...`; a value may be repeated as value*count.
std::optional<Contents> parse_contents(std::istringstream& words) {
  std::string word;
  words >> word;
  std::optional<Contents> c = parse_place(word);
  if (!c) return std::nullopt;
  while (words >> word) {
    std::size_t star = word.find('*');
    std::optional<unsigned> count =
        star == word.npos ? 1 : parse_number(std::string_view(word).substr(star + 1));
    std::optional<Contents::Element> element = parse_element(c->type, word.substr(0, star));
    if (!element || !count) return std::nullopt;
    c->elements.insert(c->elements.end(), *count, *element);
  }
  if (c->elements.empty()) return std::nullopt;
  return c;
}

std::optional<std::vector<std::byte>> parse_code(std::istringstream& words) {
  std::string word;
  std::vector<std::byte> code;
  while (words >> word) {
    if (word.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < word.size(); i += 2) {
      unsigned value = 0;
      if (std::from_chars(&word[i], &word[i] + 2, value, 16).ptr != &word[i] + 2) return std::nullopt;
      code.push_back(static_cast<std::byte>(value));
    }
  }
  return code;
}

}  // namespace

Result<std::vector<Case>> parse_cases(std::string_view text) {
  std::vector<Case> cases;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key) || key.starts_with("//") || key == "asm") continue;
    if (key == "case") {
      cases.emplace_back();
      words >> cases.back().name;
      cases.back().line = number;
      continue;
    }
    if (cases.empty()) return error("line {}: expected case, found '{}'", number, key);
    Case& current = cases.back();
    bool good = true;
    if (key == "simd") {
      good = static_cast<bool>(words >> current.simd);
    } else if (key == "family") {
      std::string family;
      const auto found = words >> family ? gen::parse_family(family) : std::nullopt;
      good = found.has_value();
      if (good) current.family = *found;
    } else if (key == "set" || key == "expect") {
      std::optional<Contents> contents = parse_contents(words);
      good = contents.has_value();
      if (good) (key == "set" ? current.before : current.after).push_back(*contents);
    } else if (key == "image") {
      ImageShape& image = current.images.emplace_back();
      good = static_cast<bool>(words >> image.surface >> image.width >> image.height >> image.format);
    } else if (key == "filter") {
      std::string filter;
      good = words >> filter && (filter == "linear" || filter == "nearest");
      current.linear_filter = filter == "linear";
    } else if (key == "system") {
      unsigned ip = 0;
      good = static_cast<bool>(words >> ip);
      current.system_routine = ip;
    } else if (key == "fault") {
      std::getline(words >> std::ws, current.fault);
    } else if (key == "code") {
      std::optional<std::vector<std::byte>> code = parse_code(words);
      good = code.has_value();
      if (good) current.code.insert(current.code.end(), code->begin(), code->end());
    } else {
      good = false;
    }
    if (!good) return error("line {}: expected a line of a case, found '{}'", number, line);
  }
  return cases;
}

}  // namespace eum::test
