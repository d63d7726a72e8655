// The first dword counts the bytes in use, itself included; records follow. A record is a format, then for
// each argument a type, for vectors the number of elements, and the value in slots of at least four bytes.
#include "runtime/printf/printf_buffer.hpp"

#include <fmt/core.h>

#include <locale.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/printf/conversion.hpp"

namespace eum::rt {
namespace {

constexpr std::uint32_t first_record = 4;
/// Written by a kernel in place of a record that does not fit.
constexpr std::uint32_t full = 0xffffffff;
/// Fills space reserved for a record that the thread has not written. Neither a format nor a type.
constexpr std::uint32_t unwritten = 0xfefefefe;
constexpr std::byte unwritten_byte{0xfe};
constexpr std::uint32_t most_elements = 16;
constexpr std::uint64_t most_string = 1 << 20;

/// Types of arguments (SHADER_PRINTF_TYPE), by number.
struct Type {
  PrintfValue::Kind kind;
  unsigned bytes;
  bool vector;
};
constexpr std::array<std::optional<Type>, 15> types{{{},
                                                     Type{PrintfValue::Kind::Integer, 1, false},
                                                     Type{PrintfValue::Kind::Integer, 2, false},
                                                     Type{PrintfValue::Kind::Integer, 4, false},
                                                     Type{PrintfValue::Kind::Float, 4, false},
                                                     Type{PrintfValue::Kind::String, 0, false},
                                                     Type{PrintfValue::Kind::Integer, 8, false},
                                                     Type{PrintfValue::Kind::Pointer, 8, false},
                                                     Type{PrintfValue::Kind::Float, 8, false},
                                                     Type{PrintfValue::Kind::Integer, 1, true},
                                                     Type{PrintfValue::Kind::Integer, 2, true},
                                                     Type{PrintfValue::Kind::Integer, 4, true},
                                                     Type{PrintfValue::Kind::Integer, 8, true},
                                                     Type{PrintfValue::Kind::Float, 4, true},
                                                     Type{PrintfValue::Kind::Float, 8, true}}};

/// Forces a decimal point in numbers, whatever the embedder's locale.
class PlainNumbers {
 public:
  PlainNumbers() : plain_(newlocale(LC_ALL_MASK, "C", nullptr)), before_(uselocale(plain_)) {}
  ~PlainNumbers() {
    uselocale(before_);
    if (plain_ != locale_t{}) freelocale(plain_);
  }
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  locale_t plain_, before_;
};

std::uint32_t dword_at(std::span<const std::byte> bytes, std::uint32_t at) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Number of bytes in use, within bounds even if the guest has overwritten the count.
std::uint32_t used(std::span<const std::byte> buffer) {
  return std::clamp(dword_at(buffer, 0), first_record, static_cast<std::uint32_t>(buffer.size()));
}

class Reader {
 public:
  Reader(std::span<const std::byte> buffer, const PrintfStrings& strings)
      : strings_(strings), bytes_(buffer.first(used(buffer))), wanted_(dword_at(buffer, 0)) {}

  PrintfText read() {
    std::uint32_t skipped = 0;
    while (room(4)) {
      if (dword_at(bytes_, at_) == unwritten) {
        at_ += 4;
        skipped += 4;
        continue;
      }
      if (dword_at(bytes_, at_) == full) break;
      record_ = at_;
      const std::size_t before = result_.text.size();
      if (surplus() ? take_surplus() : read_record()) {
        if (result_.text.size() <= most_printf_text) continue;
        result_.incomplete = fmt::format("what lies behind the first {} bytes is dropped", before);
      }
      result_.text.resize(before);
      if (unfinished_) {
        unfinished_ = false;
        skipped += at_ - record_;
        continue;
      }
      break;
    }
    if (result_.incomplete.empty() && wanted_ > bytes_.size())
      result_.incomplete = fmt::format("the buffer of {} bytes is full, {} more bytes did not fit",
                                       bytes_.size(), wanted_ - record_end());
    if (result_.incomplete.empty() && skipped != 0)
      result_.incomplete = fmt::format("{} bytes are of calls that did not come to their end", skipped);
    return std::move(result_);
  }

 private:
  bool room(std::uint64_t bytes) const { return bytes <= bytes_.size() - at_; }
  std::uint32_t record_end() const { return at_; }

  bool bad(std::string_view expected, std::uint64_t found) {
    result_.incomplete = fmt::format("byte {} of the buffer: expected {}, found {:#x}", at_, expected, found);
    return false;
  }

  std::optional<std::uint64_t> take(unsigned bytes) {
    if (!room(bytes)) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, bytes);
    at_ += bytes;
    return value;
  }

  /// The string at a guest address.
  std::optional<std::string> string_at(std::uint64_t address) const {
    const mem::Region* region = strings_.space == nullptr ? nullptr : strings_.space->find(address);
    if (region == nullptr) return std::nullopt;
    std::string text;
    while (text.size() < most_string) {
      char part[64];
      const std::uint64_t count = std::min<std::uint64_t>(sizeof part, region->end() - address);
      if (count == 0 || strings_.space->read(address, std::as_writable_bytes(std::span(part, count))))
        return std::nullopt;
      const std::size_t length = strnlen(part, count);
      text.append(part, length);
      if (length != count) return text;
      address += count;
    }
    return std::nullopt;
  }

  /// Whether a type is found where a format is expected: the compiler also stores arguments for which the
  /// previous format has no conversions. A number that may be both is a format, as for the vendor's driver.
  bool surplus() const {
    const std::uint32_t type = dword_at(bytes_, at_);
    if (type >= types.size() || !types[type]) return false;
    if (strings_.numbered != nullptr) return type >= strings_.numbered->size();
    std::uint64_t address = 0;
    if (strings_.space == nullptr || !room(sizeof address)) return true;
    std::memcpy(&address, bytes_.data() + at_, sizeof address);
    const mem::Region* region = strings_.space->find(address);
    if (region == nullptr) return true;
    std::byte before{};
    return address != region->address &&
           (strings_.space->read(address - 1, std::span(&before, 1)) || before != std::byte{});
  }

  bool take_surplus() {
    PrintfValue ignored;
    return take_argument(ignored, 0);
  }

  /// Reads a reference to a format or a string of the program.
  std::optional<std::string> take_string() {
    const std::uint32_t place = at_;
    const auto id = take(strings_.numbered != nullptr ? 4 : 8);
    if (!id) {
      bad("a string", 0);
      return std::nullopt;
    }
    if (strings_.numbered == nullptr) {
      if (auto text = string_at(*id)) return text;
    } else if (*id < strings_.numbered->size()) {
      return (*strings_.numbered)[*id];
    }
    at_ = place;
    bad(strings_.numbered != nullptr ? "the number of a string" : "the address of a string", *id);
    return std::nullopt;
  }

  bool take_argument(PrintfValue& value, char specifier) {
    const std::uint32_t place = at_;
    const auto number = take(4);
    if (!number) return bad("an argument", 0);
    if (*number == unwritten) {
      unfinished_ = true;
      return false;
    }
    const auto type = *number < types.size() ? types[*number] : std::nullopt;
    if (!type) {
      at_ = place;
      return bad("the type of an argument", *number);
    }
    value.kind = type->kind;
    value.bytes = type->bytes;
    if (type->kind == PrintfValue::Kind::String) {
      auto text = take_string();
      if (text) value.text = std::move(*text);
      return text.has_value();
    }
    const std::uint64_t count = type->vector ? take(4).value_or(0) : 1;
    const std::uint64_t slots = count * std::max(type->bytes, 4u);
    if (count == 0 || count > most_elements || !room(slots)) return bad("a vector", count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes_.data() + at_ + i * type->bytes, type->bytes);
      value.elements.push_back(bits);
    }
    at_ += static_cast<std::uint32_t>(slots);
    if (type->kind == PrintfValue::Kind::Pointer) {
      if (strings_.pointer_bytes == 4) value.elements[0] &= 0xffffffff;
      if (specifier == 's') {
        if (auto text = string_at(value.elements[0])) {
          value.kind = PrintfValue::Kind::String;
          value.text = std::move(*text);
        }
      }
    }
    return true;
  }

  bool read_record() {
    const auto format = take_string();
    if (!format) return false;
    std::string_view rest = *format;
    while (!rest.empty()) {
      const std::size_t plain = std::min(rest.find('%'), rest.size());
      result_.text += rest.substr(0, plain);
      rest.remove_prefix(plain);
      if (rest.starts_with("%%")) {
        result_.text += '%';
        rest.remove_prefix(2);
      } else if (!rest.empty()) {
        const Conversion conversion = parse_conversion(rest);
        // The compiler passes an argument for each conversion, including those that OpenCL C does not define.
        PrintfValue value;
        for (unsigned i = 0; i <= conversion.extra_arguments; ++i) {
          value = {};
          if (!take_argument(value, conversion.specifier)) return false;
        }
        if (conversion.specifier == 0)
          result_.text += rest.substr(0, conversion.characters);
        else
          append(result_.text, conversion, value);
        rest.remove_prefix(conversion.characters);
      }
    }
    return true;
  }

  const PrintfStrings& strings_;
  std::span<const std::byte> bytes_;
  std::uint32_t wanted_;
  std::uint32_t at_ = first_record;
  std::uint32_t record_ = first_record;
  bool unfinished_ = false;
  PrintfText result_;
};

}  // namespace

void clear_printf_buffer(std::span<std::byte> buffer, bool all) {
  std::memset(buffer.data(), static_cast<int>(unwritten_byte), all ? buffer.size() : used(buffer));
  const std::uint32_t begin = first_record;
  std::memcpy(buffer.data(), &begin, sizeof begin);
}

PrintfText read_printf_buffer(std::span<const std::byte> buffer, const PrintfStrings& strings) {
  if (buffer.size() < first_record) return {};
  const PlainNumbers plain;
  return Reader(buffer, strings).read();
}

std::string unescaped(std::string_view text) {
  constexpr std::string_view letters = "abfnrtv", characters = "\a\b\f\n\r\t\v";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const std::size_t letter = letters.find(text[++i]);
    result += letter == std::string_view::npos ? text[i] : characters[letter];
  }
  return result;
}

}  // namespace eum::rt
