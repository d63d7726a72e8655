// Parses and checks the TOML configuration; every message carries line and column.
#include "runtime/user_msr/config.hpp"

// toml++ 3.3 asserts conditions that hostile text violates ("[." is enough), and with NDEBUG tells Clang to
// assume them. The code after the assertions reports an error in those cases, so assertions are disabled.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include "frontend/x86/machine_file.hpp"
#include "runtime/user_msr/toml_text.hpp"

namespace eum::rt {
namespace {

constexpr std::size_t max_config_bytes = 16 << 20;
constexpr std::string_view file_scheme = "file:";

Result<std::string> read_whole(const std::string& path, std::size_t limit) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return error("{}: cannot be opened", path);
  std::string text(limit + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get())) return error("{}: cannot be read", path);
  if (text.size() > limit) return error("{}: expected at most {} bytes, found more", path, limit);
  return text;
}

/// The text being parsed and its name; builds messages.
struct Source {
  std::string_view file;
  std::string_view folder;
  const TomlText& text;

  template <class... Args>
  Error at(const toml::source_position& where, fmt::format_string<Args...> format, Args&&... args) const {
    TomlText::Position place = text.original({where.line, where.column});
    return error("{}:{}:{}: {}", file, place.line, place.column,
                 fmt::format(format, std::forward<Args>(args)...));
  }
  std::string resolve(std::string_view path) const {
    std::error_code code;
    std::filesystem::path whole = std::filesystem::path(folder) / path;
    std::filesystem::path absolute = std::filesystem::absolute(whole, code);
    return (code ? whole : absolute).lexically_normal().string();
  }
};

/// "a string", for "expected ..., found a string".
std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a float";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

Result<bool> parse_bool(const Source& source, const toml::key& key, const toml::node& node) {
  if (const toml::value<bool>* value = node.as_boolean()) return value->get();
  return source.at(node.source().begin, "expected true or false for `{}`, found {}", key.str(),
                   kind_of(node));
}

/// A text that was found, quoted for messages and cut if it is long.
std::string in_quotes(std::string_view utf8) {
  std::size_t length = std::min<std::size_t>(utf8.size(), 60);
  while (length < utf8.size() && (static_cast<unsigned char>(utf8[length]) & 0xc0) == 0x80) --length;
  return fmt::format("\"{}\"{}", utf8.substr(0, length), length < utf8.size() ? "..." : "");
}

/// A number in a string: as parse_number accepts it, or a negative one as two's complement.
bool parse_signed_number(std::string_view text, std::uint64_t& number) {
  bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (!parse_number(text.data(), text.size(), number)) return false;
  if (!is_negative) return true;
  number = 0 - number;
  return number >> 63 != 0 || number == 0;
}

/// A 64-bit number: an integer (negative ones as two's complement) or a string, since TOML's integers end at
/// 2^63 - 1.
Result<std::uint64_t> parse_u64(const Source& source, const toml::key& key, const toml::node& node) {
  if (const toml::value<std::int64_t>* value = node.as_integer())
    return static_cast<std::uint64_t>(value->get());
  const toml::value<std::string>* text = node.as_string();
  std::uint64_t number;
  if (text && parse_signed_number(text->get(), number)) return number;
  return source.at(
      node.source().begin,
      "expected a 64-bit integer, or one in a string such as \"0xffffffff00000000\", for `{}`, found {}",
      key.str(), text ? in_quotes(source.text.original(text->get())) : std::string(kind_of(node)));
}

Result<std::uint32_t> parse_address(const Source& source, const toml::node& node) {
  const toml::value<std::int64_t>* value = node.as_integer();
  if (!value)
    return source.at(node.source().begin, "expected an integer from 0 to {:#x} for `address`, found {}",
                     x86::user_msr_limit - 1, kind_of(node));
  if (value->get() < 0 || value->get() >= std::int64_t{x86::user_msr_limit})
    return source.at(node.source().begin, "expected an MSR address from 0 to {:#x}, found {:#x}",
                     x86::user_msr_limit - 1, value->get());
  if (value->get() == x86::ia32_user_msr_ctl)
    return source.at(node.source().begin,
                     "expected the address of a register of the configuration's own, found {:#x}, "
                     "IA32_USER_MSR_CTL",
                     x86::ia32_user_msr_ctl);
  return static_cast<std::uint32_t>(value->get());
}

/// Sets the entry's source and path.
Result<void> parse_source(const Source& source, const toml::node& node, MsrEntry& entry) {
  constexpr std::string_view wanted = "\"counter\", \"tsc\" or \"file:PATH\"";
  const toml::value<std::string>* value = node.as_string();
  if (!value)
    return source.at(node.source().begin, "expected {} for `source`, found {}", wanted, kind_of(node));
  const std::string text = source.text.original(value->get());
  if (text == "counter") {
    entry.source = MsrSource::Counter;
  } else if (text == "tsc") {
    entry.source = MsrSource::Tsc;
  } else if (std::string_view(text).starts_with(file_scheme) && text.size() > file_scheme.size()) {
    entry.source = MsrSource::File;
    entry.path = source.resolve(text.substr(file_scheme.size()));
    Result<std::string> content = read_whole(entry.path, 63);
    if (!content)
      return source.at(node.source().begin, "expected a readable file with a number, found: {}",
                       content.error().message);
    std::uint64_t number;
    if (!parse_number(content->data(), content->size(), number))
      return source.at(node.source().begin, "expected a decimal or 0x number in {}, found {}", entry.path,
                       in_quotes(*content));
  } else {
    return source.at(node.source().begin, "expected {} for `source`, found {}", wanted, in_quotes(text));
  }
  return {};
}

/// Whether there are control characters, which might end a line or command a terminal: C0, DEL and C1.
bool has_control_character(std::string_view utf8) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    auto byte = static_cast<unsigned char>(utf8[i]);
    bool is_c1 = byte == 0xc2 && i + 1 < utf8.size() && static_cast<unsigned char>(utf8[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || is_c1) return true;
  }
  return false;
}

struct Bits {
  std::optional<bool> read, write;
};

Result<MsrEntry> parse_msr(const Source& source, const toml::table& table, Bits& bits) {
  MsrEntry entry;
  bool has_address = false, has_value = false, has_source = false;
  std::optional<bool> writable;
  for (auto&& [key, node] : table) {
    std::string_view name = key.str();
    if (name == "address") {
      Result<std::uint32_t> address = parse_address(source, node);
      if (!address) return address.error();
      entry.address = *address;
      has_address = true;
    } else if (name == "name") {
      const toml::value<std::string>* text = node.as_string();
      if (!text || text->get().empty())
        return source.at(node.source().begin, "expected a string that is not empty for `name`, found {}",
                         kind_of(node));
      entry.name = source.text.original(text->get());
      if (has_control_character(entry.name))
        return source.at(node.source().begin, "expected no control characters in `name`, found some");
    } else if (name == "read" || name == "write" || name == "writable") {
      Result<bool> value = parse_bool(source, key, node);
      if (!value) return value.error();
      (name == "read" ? bits.read : name == "write" ? bits.write : writable) = *value;
    } else if (name == "value" || name == "reserved") {
      Result<std::uint64_t> value = parse_u64(source, key, node);
      if (!value) return value.error();
      (name == "value" ? entry.value : entry.reserved) = *value;
      has_value |= name == "value";
    } else if (name == "source") {
      Result<void> parsed = parse_source(source, node, entry);
      if (!parsed) return parsed.error();
      has_source = true;
    } else {
      return source.at(key.source().begin,
                       "expected address, name, read, write, value, source, reserved or writable, found `{}`",
                       source.text.original(name));
    }
  }
  toml::source_position begin = table.source().begin;
  if (!has_address) return source.at(begin, "expected `address` in this [[msr]], found none");
  if (has_value == has_source)
    return source.at(begin, "expected either `value` or `source` in this [[msr]], found {}",
                     has_value ? "both" : "neither");
  entry.writable = writable.value_or(entry.source != MsrSource::Tsc);
  if (entry.source == MsrSource::Tsc && entry.writable)
    return source.at(begin, "expected `writable` = false for source \"tsc\", found true");
  if (entry.name.empty()) entry.name = fmt::format("msr {:#x}", entry.address);
  return entry;
}

Result<void> load_bitmap(const Source& source, const toml::node& node, MsrBitmap& bitmap) {
  const toml::value<std::string>* path = node.as_string();
  if (!path)
    return source.at(node.source().begin, "expected the path of a file of {} bytes for `bitmap`, found {}",
                     bitmap.size(), kind_of(node));
  Result<std::string> bytes = read_whole(source.resolve(source.text.original(path->get())), bitmap.size());
  if (!bytes)
    return source.at(node.source().begin, "expected a bitmap file of {} bytes, found: {}", bitmap.size(),
                     bytes.error().message);
  if (bytes->size() != bitmap.size())
    return source.at(node.source().begin, "expected a bitmap file of {} bytes, found {} bytes", bitmap.size(),
                     bytes->size());
  std::copy(bytes->begin(), bytes->end(), bitmap.begin());
  return {};
}

void set_bit(MsrBitmap& bitmap, std::uint32_t msr, x86::Access access) {
  std::uint8_t& byte = bitmap[x86::bitmap_byte(msr, access)];
  byte = static_cast<std::uint8_t>(byte | 1u << (msr & 7));
}

/// Checks for overlaps and equal names; `places` are the positions of the tables.
Result<void> check_unique(const Source& source, const std::vector<MsrEntry>& msrs,
                          const std::vector<toml::source_position>& places) {
  std::unordered_map<std::uint32_t, std::size_t> by_address;
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < msrs.size(); ++i) {
    auto [address, new_address] = by_address.try_emplace(msrs[i].address, i);
    if (!new_address)
      return source.at(places[i],
                       "expected one [[msr]] for each address, found {:#x} again; first at line {}",
                       msrs[i].address, places[address->second].line);
    auto [name, new_name] = by_name.try_emplace(msrs[i].name, i);
    if (!new_name)
      return source.at(places[i], "expected one [[msr]] for each name, found \"{}\" again; first at line {}",
                       msrs[i].name, places[name->second].line);
  }
  return {};
}

/// toml++'s description and, if a number is too large, advice on how to write it.
std::string describe(const toml::parse_error& parse_error) {
  std::string text(parse_error.description());
  if (text.find("not representable") != std::string::npos)
    text += "; a number from 2^63 on is written as a string, such as \"0xffffffffffffffff\"";
  return text;
}

}  // namespace

Result<MsrConfig> parse_msr_config(std::string_view text, std::string_view file, std::string_view folder) {
  TomlText::Position where;
  Result<TomlText> ascii = TomlText::make(text, where);
  if (!ascii) return error("{}:{}:{}: {}", file, where.line, where.column, ascii.error().message);
  Source source{file, folder, *ascii};
  toml::parse_result parsed = toml::parse(std::string_view(ascii->ascii()), file);
  if (!parsed)
    return source.at(parsed.error().source().begin, "expected TOML, found: {}",
                     ascii->original(describe(parsed.error())));
  const toml::table& root = parsed.table();

  MsrConfig config;
  bool has_bitmap = false;
  const toml::array* tables = nullptr;
  for (auto&& [key, node] : root) {
    if (key.str() == "bitmap") {
      Result<void> loaded = load_bitmap(source, node, config.bitmap);
      if (!loaded) return loaded.error();
      has_bitmap = true;
    } else if (key.str() == "msr") {
      tables = node.as_array();
      if (!tables) return source.at(key.source().begin, "expected [[msr]] tables, found {}", kind_of(node));
    } else {
      return source.at(key.source().begin, "expected `bitmap` or [[msr]] tables, found `{}`",
                       ascii->original(key.str()));
    }
  }
  if (!tables) return source.at({1, 1}, "expected at least one [[msr]] table, found none");

  std::vector<toml::source_position> places;
  for (const toml::node& node : *tables) {
    const toml::table* table = node.as_table();
    if (!table) return source.at(node.source().begin, "expected a [[msr]] table, found {}", kind_of(node));
    Bits bits;
    Result<MsrEntry> entry = parse_msr(source, *table, bits);
    if (!entry) return entry.error();
    if (has_bitmap && (bits.read || bits.write))
      return source.at(table->source().begin,
                       "expected no `read` and `write` beside a `bitmap` file, found {}",
                       bits.read ? "`read`" : "`write`");
    if (!has_bitmap && !bits.read)
      return source.at(table->source().begin,
                       "expected `read`, a bit of the bitmap, or a `bitmap` file, found neither");
    if (bits.read.value_or(false)) set_bit(config.bitmap, entry->address, x86::Access::Read);
    if (bits.write.value_or(false)) set_bit(config.bitmap, entry->address, x86::Access::Write);
    config.msrs.push_back(*std::move(entry));
    places.push_back(table->source().begin);
  }
  Result<void> unique = check_unique(source, config.msrs, places);
  if (!unique) return unique.error();
  std::sort(config.msrs.begin(), config.msrs.end(),
            [](const MsrEntry& a, const MsrEntry& b) { return a.address < b.address; });
  return config;
}

Result<MsrConfig> load_msr_config(const std::string& path) {
  Result<std::string> text = read_whole(path, max_config_bytes);
  if (!text) return text.error();
  return parse_msr_config(*text, path, std::filesystem::path(path).parent_path().string());
}

}  // namespace eum::rt
