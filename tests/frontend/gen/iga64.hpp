#pragma once
// iga64, the external oracle for the decoder and printer: runs it where it is installed and reads its output.
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/family.hpp"

namespace eum::gen::test {

/// iga64's output for one instruction.
struct IgaLine {
  std::string text;                 ///< blanks squeezed, without comment
  std::string comment;              ///< the text after //, blanks squeezed
  std::vector<std::string> errors;  ///< reasons of rejection; empty if it accepts
  bool rejected() const { return !errors.empty(); }
};

/// By byte offset, each instruction decoded by itself: targets are relative. Nothing if iga64 is not
/// installed.
std::optional<std::map<std::size_t, IgaLine>> run_iga64(std::span<const std::byte> code, Family family);

/// The text of a whole kernel as printed by iga64 -d, line by line, blanks squeezed.
std::optional<std::vector<std::string>> iga64_listing(std::span<const std::byte> code, Family family);

/// The warnings of `iga64 -a` for `assembly`, by line number starting at 1.
std::optional<std::map<std::size_t, std::vector<std::string>>> iga64_warnings(const std::string& assembly,
                                                                              Family family);

/// Replaces runs of blanks by one and trims both ends.
std::string squeeze(std::string_view text);
/// squeeze() of the text before a // comment.
std::string without_comment(std::string_view text);

std::vector<std::byte> read_bytes(const std::string& path);
std::vector<std::string> read_lines(const std::string& path);
/// The path of a file of tests/frontend/gen/data.
std::string data_path(std::string_view name);
/// The family of a kernel in that folder: Gen9 for "gen9_saxpy".
Family family_of_data(std::string_view stem);

}  // namespace eum::gen::test
