// Reads, compares and rewrites files of text cases; see text_cases.hpp.
#include "tests/jit/text_cases.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "frontend/ir/parser.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"

namespace eum::jit::test {
namespace {

struct TextFile {
  std::string comment;
  std::vector<TextCase> cases;
};

TextFile read(const std::string& path) {
  std::ifstream in(path);
  if (!in) FAIL("cannot read " << path);
  TextFile file;
  std::string* part = &file.comment;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      file.cases.push_back({line.substr(3), {}, {}});
      part = &file.cases.back().input;
    } else if (line == "=>") {
      if (file.cases.empty()) FAIL(path << ": `=>` before the first case");
      part = &file.cases.back().expected;
    } else {
      *part += line + '\n';
    }
  }
  return file;
}

/// Trailing blank lines separate cases and are removed.
std::string trimmed(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  return end == std::string::npos ? std::string() : text.substr(0, end + 1) + '\n';
}

}  // namespace

bool TextCase::has(std::string_view option) const {
  const std::size_t open = title.rfind('(');
  if (open == std::string::npos) return false;
  std::istringstream words(title.substr(open + 1, title.rfind(')') - open - 1));
  for (std::string word; words >> word;)
    if (word == option) return true;
  return false;
}

void check_text_file(const std::string& path, const std::function<std::string(const TextCase&)>& run,
                     std::size_t& count) {
  const std::string full = std::string(EUMULATE_SOURCE_DIR "/tests/jit/") + path;
  const TextFile file = read(full);
  const char* update = std::getenv("EUMULATE_UPDATE");
  const bool rewrites = update != nullptr && std::string_view(update) == "1";
  std::string text = trimmed(file.comment);
  for (const TextCase& one : file.cases) {
    INFO(path << ": " << one.title);
    const std::string result = trimmed(run(one));
    if (!rewrites) CHECK(result == trimmed(one.expected));
    text += fmt::format("\n== {}\n{}=>\n{}", one.title, trimmed(one.input), result);
  }
  count = file.cases.size();
  if (rewrites) std::ofstream(full) << text;
}

ir::Function function_of_text(std::string_view text) {
  constexpr std::string_view head = "kernel @k simd 8 family gen9 file 512 slot 32 masks 3\n";
  auto parsed = ir::parse(text.starts_with("kernel") ? std::string(text) : std::string(head).append(text));
  if (!parsed) FAIL(parsed.error().message << "\n" << text);
  if (const auto verified = ir::verify(*parsed); !verified) FAIL(verified.error().message << "\n" << text);
  return std::move(*parsed);
}

std::string blocks_text(const ir::Function& function) {
  if (const auto verified = ir::verify(function); !verified)
    FAIL(verified.error().message << "\n" << ir::print(function));
  // Parsing renumbers the values.
  const auto again = ir::parse(ir::print(function));
  if (!again) FAIL(again.error().message);
  const std::string text = ir::print(*again);
  return text.substr(text.find('\n') + 1);
}

}  // namespace eum::jit::test
