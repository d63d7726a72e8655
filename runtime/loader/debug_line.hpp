#pragma once
// The source line of each instruction of a kernel, from the section .debug_line of a zebin, DWARF 2 to 4.
// Everything in the file is hostile. It must not know how lines are shown.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::rt {

/// Applies from `ip` to the next row.
struct LineRow {
  std::uint32_t ip = 0;
  std::uint32_t file = 0;  ///< index in LineTable::files
  std::uint32_t line = 0;  ///< 0: none, or the end of the code that has lines
  bool statement = false;  ///< a statement begins here: a good place for a breakpoint
};

struct LineTable {
  std::vector<std::string> files;  ///< as they were passed to the compiler
  std::vector<LineRow> rows;       ///< ascending

  /// The row of the instruction at `ip`; nullptr if no line is known.
  const LineRow* at(std::uint32_t ip) const;
  /// Start of the code of a line, in a file whose name or last path component is `file` (any file if empty).
  std::optional<std::uint32_t> find(std::string_view file, std::uint32_t line) const;
};

/// The lines of one kernel; an empty table if the binary has none. An error says what is malformed.
Result<LineTable> read_line_table(std::span<const std::byte> binary, std::string_view kernel);

}  // namespace eum::rt
