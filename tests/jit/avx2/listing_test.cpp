// What the AVX2 engine emits, pinned as text: listings.txt holds functions and the host instructions of one
// version of their blocks. After a change that is meant to give other code:
//   EUMULATE_UPDATE=1 build/release/tests/test_jit "text:*"     and read the difference
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <sstream>

#include "jit/engine.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// Labels by the order in which they appear.
std::string with_own_labels(const std::string& text) {
  static const std::regex label("\\bL([0-9]+)\\b");
  std::map<std::string, std::size_t> numbers;
  std::string result;
  auto from = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), label), end; found != end; ++found) {
    const auto number = numbers.emplace(found->str(), numbers.size()).first->second;
    result.append(from, text.begin() + found->position()).append(fmt::format("L{}", number));
    from = text.begin() + found->position() + found->length();
  }
  return result.append(from, text.end());
}

/// Of the listing: one version of all blocks ("all" channels on, or "some"), without the budget and without
/// the host's addresses.
std::string version_text(const std::string& listing, std::string_view channels) {
  static const std::regex address("^mov (r[a-z0-9]+), [0-9]{5,}$");
  const std::string own = fmt::format(", {} channels on", channels);
  std::vector<std::string> lines;
  bool inside = false;
  std::istringstream in(listing);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("; b")) {
      inside = line.find(own) != std::string::npos;
      if (!inside && !lines.empty()) {
        lines.pop_back();  // the label of another version
        break;
      }
      line = line.substr(0, line.find(','));
    }
    if (!inside || line.starts_with("; @") || line.starts_with("sub qword ptr [rbx+8], ")) continue;
    lines.push_back(std::regex_replace(line, address, "mov $1, host"));
    // Exited; what follows the version is out of line.
    if (channels == "some" && line == "mov eax, 0") break;
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return with_own_labels(text);
}

}  // namespace

TEST_CASE("text: host instructions of the AVX2 engine") {
  auto engine = make_avx2_engine();
  if (!engine) {
    WARN("not compared: " << engine.error().message);
    return;
  }
  CompileOptions options;
  options.listing = true;
  std::size_t cases = 0;
  check_text_file(
      "avx2/listings.txt",
      [&](const TextCase& one) {
        ir::Function function = function_of_text(one.input);
        auto executable = (*engine)->compile(function, options);
        if (!executable) FAIL(executable.error().message);
        return version_text((*executable)->listing(), one.has("some") ? "some" : "all");
      },
      cases);
  CHECK(cases >= 40);
}
