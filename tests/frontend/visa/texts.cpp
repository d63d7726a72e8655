// Reads the text files.
#include "tests/frontend/visa/texts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace eum::visa::test {
namespace {
const std::filesystem::path folder = EUMULATE_SOURCE_DIR "/tests/frontend/visa/texts";
}

std::vector<std::string> text_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  if (names.empty()) throw std::runtime_error("no texts");
  return names;
}

std::string read_text(std::string_view name) {
  std::ifstream file(folder / name);
  if (!file) throw std::runtime_error(fmt::format("no text {}", name));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find("//"), line.size()));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first));
  }
  return lines;
}

std::string kernel_with(std::string_view lines) {
  return fmt::format(R"(.version 4.1
.kernel "k"
.decl V v_type=G type=d num_elts=64 align=wordx32
.decl W v_type=G type=w num_elts=16 align=word alias=<V, 32>
.decl Q v_type=G type=uq num_elts=16 align=hword
.decl F v_type=G type=f num_elts=16 align=hword
.decl P v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl A v_type=A num_elts=8
.decl S v_type=S num_elts=1
.decl T v_type=T num_elts=1
.function "k"
start:
{}
)",
                     lines);
}

}  // namespace eum::visa::test
