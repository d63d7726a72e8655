#pragma once
// Which source line each instruction of a kernel comes from: the section .debug_line of a zebin, DWARF 2
// to 4. Everything in the file is hostile. It must not know how lines are shown.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::rt {

/// From `ip` on, to the next row.
struct LineRow {
  std::uint32_t ip = 0;
  std::uint32_t file = 0;  ///< in LineTable::files
  std::uint32_t line = 0;  ///< 0: none, or the end of what has lines
  bool statement = false;  ///< where a statement begins: a good place for a breakpoint
};

struct LineTable {
  std::vector<std::string> files;  ///< as the compiler was given them
  std::vector<LineRow> rows;       ///< ascending

  /// The row of the instruction at `ip`; nullptr where no line is known.
  const LineRow* at(std::uint32_t ip) const;
  /// Where the code of a line begins, of a file whose name, or its last part, is `file` (any file if that is
  /// empty).
  std::optional<std::uint32_t> find(std::string_view file, std::uint32_t line) const;
};

/// The lines of one kernel; an empty table where the binary has none. An error says what is malformed.
Result<LineTable> read_line_table(std::span<const std::byte> binary, std::string_view kernel);

}  // namespace eum::rt
