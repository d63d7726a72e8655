// What the AVX2 engine emits, pinned as text: listings.txt (single ops) and hot_paths.txt (the code in which
// kernels spend most of their time) hold functions and the host instructions of one version of their blocks;
// listings.txt of avx512 holds what that engine does differently. After a change that is meant to change the
// code:
//   EUMULATE_UPDATE=1 build/release/tests/test_jit "text:*"     and read the difference
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>

#include "jit/engine.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// Numbers the labels in the order in which they appear.
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

/// The line without host addresses.
std::string plain(const std::string& line) {
  static const std::regex address("^mov (r[a-z0-9]+), [0-9]{5,}$");
  return std::regex_replace(line, address, "mov $1, host");
}

std::vector<std::string> lines_of(const std::string& listing) {
  std::vector<std::string> lines;
  std::istringstream in(listing);
  for (std::string line; std::getline(in, line);) lines.push_back(plain(line));
  return lines;
}

/// The lines from the one that starts with `first` up to, not including, the next one that starts with `end`.
std::string lines_between(const std::string& listing, std::string_view first, std::string_view end) {
  std::string text;
  for (std::string line : lines_of(listing)) {
    if (text.empty() && !line.starts_with(first)) continue;
    if (!text.empty() && line.starts_with(end)) return with_own_labels(text);
    if (line.starts_with("; b")) line = line.substr(0, line.find(','));
    if (!line.starts_with("; @")) text += line + '\n';
  }
  FAIL("no lines from " << first << " to " << end << " in\n" << listing);
  return {};
}

/// One version of all blocks ("all" channels on, or "some") from the listing, without the budget and without
/// host addresses.
std::string version_text(const std::string& listing, std::string_view channels) {
  const std::string own = fmt::format(", {} channels on", channels);
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line : lines_of(listing)) {
    if (line.starts_with("; b")) {
      inside = line.find(own) != std::string::npos;
      if (!inside && !lines.empty()) {
        lines.pop_back();  // the label of the next version
        break;
      }
      line = line.substr(0, line.find(','));
    }
    if (!inside || line.starts_with("; @") || line.starts_with("sub qword ptr [rbx+8], ")) continue;
    if (line == "; out of line") break;
    lines.push_back(line);
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return with_own_labels(text);
}

/// The whole listing of a case.
std::string listing_of(Engine& engine, const TextCase& one, Optimisations optimisations = {}) {
  CompileOptions options;
  options.listing = true;
  options.optimisations = optimisations;
  options.launch.lone_threads = one.has("lone");
  if (one.has("few") || one.has("one")) options.launch.channels = one.has("few") ? 8 : 1;
  options.exact_registers = std::ranges::none_of(std::array{"ids", "run", "control", "lone", "few", "one"},
                                                 [&](const char* option) { return one.has(option); });
  options.launch.own_images = !options.exact_registers;
  options.launch.beyond_caches = one.has("far");
  options.launch.disjoint_surfaces = one.has("disjoint");
  if (one.has("control")) options.control = KnownRegister{7 * 32, 0};
  const std::uint32_t ids = one.has("wide") ? 16 : 8;
  if (one.has("ids")) options.launch.ids = {32, ids, one.has("eights") ? 8 : ids};
  if (one.has("strip")) options.launch.id_steps.by_line = {ids, 0, 0};
  ir::Function function = function_of_text(one.input);
  auto executable = engine.compile(function, options);
  if (!executable) FAIL(executable.error().message);
  return (*executable)->listing();
}

/// The part of the listing that is pinned.
std::string pinned_text(Engine& engine, const TextCase& one) {
  if (one.has("formula") && !orders_formulas) return one.expected;
  const std::string listing = listing_of(engine, one);
  // The prologue is emitted last, just before the constants.
  if (one.has("begin")) return lines_between(listing, "push rbx", "align");
  if (one.has("leave")) return lines_between(listing, "lea rcx, [rsp+", "ret");
  if (one.has("strip")) return lines_between(listing, "; strip, head", "; out of line");
  // The out-of-line code is followed by the code for its calls.
  if (one.has("out")) return lines_between(listing, "; b0", "sub rsp, 56");
  return version_text(listing, one.has("some") ? "some" : "all");
}

/// Code that depends on what has not been initialised differs behind other contents.
[[gnu::noinline]] void fill_stack(unsigned char byte) {
  constexpr std::size_t bytes = 1 << 16;
  [[maybe_unused]] volatile unsigned char area[bytes];
  for (std::size_t i = 0; i < bytes; ++i) area[i] = byte;
}

constexpr std::string_view files[]{"avx2/listings.txt", "avx2/hot_paths.txt"};

/// Checks that each file has at least `least` cases and that the engine emits the text of each.
void check_listings(const Result<std::unique_ptr<Engine>>& engine, std::span<const std::string_view> names,
                    std::size_t least) {
  if (!engine) {
    WARN("not compared: " << engine.error().message);
    return;
  }
  for (const std::string_view name : names) {
    std::size_t cases = 0;
    check_text_file(
        std::string(name), [&](const TextCase& one) { return pinned_text(**engine, one); }, cases);
    CHECK(cases >= least);
  }
}

}  // namespace

TEST_CASE("text: host instructions of the AVX2 engine") { check_listings(make_avx2_engine(), files, 40); }

TEST_CASE("text: host instructions of the AVX-512 engine") {
  check_listings(make_avx512_engine(MaskHome::Registers), std::array{std::string_view("avx512/listings.txt")},
                 3);
  check_listings(make_avx512_engine(MaskHome::Lanes), std::array{std::string_view("avx512/lanes.txt")}, 3);
}

TEST_CASE("each optimisation changes the code of a case that is pinned") {
  auto engine = make_avx2_engine();
  if (!engine) {
    WARN("not compared: " << engine.error().message);
    return;
  }
  const auto comparable = [&](const TextCase& one, Optimisations optimisations) {
    std::string text;
    for (const std::string& line : lines_of(listing_of(**engine, one, optimisations))) text += line + '\n';
    return with_own_labels(text);
  };
  std::vector<const OptimisationInfo*> unseen;
  for (const OptimisationInfo& row : optimisation_table)
    if (row.can_be_disabled() && (&row - optimisation_table) % EUMULATE_STEP == 0) unseen.push_back(&row);
  // Finds by halves which of `rows` change the code: those that change nothing together do so alone.
  std::set<std::string_view> seen;
  const auto look = [&](auto& self, const TextCase& one, const std::string& with,
                        std::span<const OptimisationInfo* const> rows) -> void {
    Optimisations left;
    for (const OptimisationInfo* row : rows) left.disable(row->optimisation);
    if (rows.empty() || comparable(one, left) == with) return;
    if (rows.size() == 1) {
      seen.insert(rows.front()->name);
      return;
    }
    self(self, one, with, rows.first(rows.size() / 2));
    self(self, one, with, rows.subspan(rows.size() / 2));
  };
  for (const std::string_view file : files) {
    std::size_t cases = 0;
    check_text_file(
        std::string(file),
        [&](const TextCase& one) {
          fill_stack(0);
          const std::string with = comparable(one, {});
          fill_stack(0xff);
          CHECK(comparable(one, {}) == with);
          look(look, one, with, unseen);
          std::erase_if(unseen, [&](const OptimisationInfo* row) { return seen.contains(row->name); });
          return one.expected;
        },
        cases);
  }
  for (const OptimisationInfo* row : unseen) UNSCOPED_INFO(row->name);
  CHECK(unseen.empty());
}
