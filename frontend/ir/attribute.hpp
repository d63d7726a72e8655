#pragma once
// The text and the rules of each kind of attribute: a row of attributes.def has its three functions in
// attribute.cpp. For printer, parser and verifier only.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "frontend/ir/cursor.hpp"
#include "frontend/ir/function.hpp"
#include "memory/base/result.hpp"

namespace eum::ir {

/// The text of one instruction, item by item.
class InstText {
 public:
  InstText(const Function& function, const Inst& inst, std::string& out, bool name_values)
      : function(function), inst(inst), out(out), name_values_(name_values) {}

  const Function& function;
  const Inst& inst;
  std::string& out;
  unsigned next_arg = 0;  ///< the first operand that is not printed yet

  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }
  /// Appends an item, separated from the one before it by a comma.
  template <class... Args>
  void item(fmt::format_string<Args...> format, Args&&... args) {
    separate(", ");
    append(format, std::forward<Args>(args)...);
  }
  /// Appends the pending separator; `next` is the one before the following item.
  void separate(const char* next) {
    out += separator_;
    separator_ = next;
  }
  void value(ValueId id) {
    if (name_values_)
      append("%{}", id);
    else
      out += "%_";
  }
  void next_value() {
    if (next_arg < inst.arg_count) value(function.arg(inst, next_arg++));
  }

 private:
  bool name_values_;
  const char* separator_ = " ";
};

/// Reads what InstText writes. Methods return false after an error, which the cursor keeps.
struct InstReader {
  Cursor& in;
  Function& function;
  Inst& inst;
  std::vector<ValueId>& args;
  std::function<bool(ValueId&)> use;  ///< resolves a reference to a value defined earlier
  bool first_item = true;

  /// Reads the separator between an item and the one before it.
  bool item() {
    if (!first_item) return in.expect(',');
    first_item = false;
    return true;
  }
  bool next_value() { return use(args.emplace_back()); }
};

struct AttributeInfo {
  enum class Place : std::uint8_t { First, Last, Nowhere } place;
  void (*print)(InstText&);
  bool (*parse)(InstReader&);
  Result<void> (*verify)(const Function&, const Inst&);
};

const AttributeInfo& info(Attribute attribute);

// Attributes that have a file of their own.
void print_Image(InstText&);
bool parse_Image(InstReader&);
Result<void> verify_Image(const Function&, const Inst&);

/// A value of `type` from the text: bits, a negative integer, or for floats a decimal fraction.
bool parse_lane_value(Cursor& in, Type type, unsigned lanes, std::uint64_t& bits);

/// A string in quotes; bytes that are not printable ASCII as \xNN.
std::string quoted(std::string_view text);

}  // namespace eum::ir
