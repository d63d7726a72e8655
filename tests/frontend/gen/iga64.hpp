#pragma once
// iga64, the outside oracle of the decoder and printer: runs it where it is installed and reads its output.
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/family.hpp"

namespace eum::gen::test {

/// What iga64 says of one instruction.
struct IgaLine {
  std::string text;                 ///< blanks squeezed, without comment
  std::string comment;              ///< behind the //, blanks squeezed
  std::vector<std::string> errors;  ///< reasons of rejection; empty if it accepts
  bool rejected() const { return !errors.empty(); }
};

/// By byte offset, each instruction for itself: targets are relative numbers. Nothing if iga64 is not
/// installed.
std::optional<std::map<std::size_t, IgaLine>> run_iga64(std::span<const std::byte> code, Family family);

/// The text of a whole kernel as iga64 -d prints it, line by line, blanks squeezed.
std::optional<std::vector<std::string>> iga64_listing(std::span<const std::byte> code, Family family);

/// By line number from 1 on, what `iga64 -a` warns of in `assembly`.
std::optional<std::map<std::size_t, std::vector<std::string>>> iga64_warnings(const std::string& assembly,
                                                                              Family family);

/// Runs of blanks become one, none at either end.
std::string squeeze(std::string_view text);
/// squeeze() of what stands before a // comment.
std::string without_comment(std::string_view text);

std::vector<std::byte> read_bytes(const std::string& path);
std::vector<std::string> read_lines(const std::string& path);
/// A file of tests/frontend/gen/data.
std::string data_path(std::string_view name);
/// The family of a kernel there: that of "gen9_saxpy" is Gen9.
Family family_of_data(std::string_view stem);

}  // namespace eum::gen::test
