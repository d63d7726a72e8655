#include "tests/frontend/gen/iga64.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace eum::gen::test {
namespace {

/// A file that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view suffix) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("eumulate-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + std::string(suffix));
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

bool installed() {
  static const bool found = std::system("command -v iga64 >/dev/null 2>&1") == 0;
  return found;
}

/// Output and messages of `iga64 -d options` for `code`.
std::pair<std::vector<std::string>, std::vector<std::string>> disassemble_with(
    std::span<const std::byte> code, Family family, const std::string& options) {
  TemporaryFile in(".krn"), out(".asm"), messages(".err");
  {
    std::ofstream file(in.path(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  }
  const std::string command = "iga64 -d -p " + std::string(info(family).iga64) + " " + options + " " +
                              in.path() + " --output-on-fail -o " + out.path() + " >" + messages.path() +
                              " 2>&1";
  // The status only says that some instruction was rejected, as the messages do.
  [[maybe_unused]] const int status = std::system(command.c_str());
  return {read_lines(out.path()), read_lines(messages.path())};
}

}  // namespace

std::string squeeze(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string without_comment(std::string_view text) { return squeeze(text.substr(0, text.find("//"))); }

std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> out(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) out[i] = static_cast<std::byte>(text[i]);
  return out;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

std::string data_path(std::string_view name) {
  return EUMULATE_SOURCE_DIR "/tests/frontend/gen/data/" + std::string(name);
}

Family family_of_data(std::string_view stem) {
  const std::string_view name = stem.substr(0, stem.find('_'));
  const std::optional<Family> family = parse_family(name);
  if (!family) throw std::runtime_error("no family " + std::string(name));
  return *family;
}

std::optional<std::vector<std::string>> iga64_listing(std::span<const std::byte> code, Family family) {
  if (!installed()) return std::nullopt;
  std::vector<std::string> lines = disassemble_with(code, family, "").first;
  for (std::string& line : lines) line = squeeze(line);
  return lines;
}

std::optional<std::map<std::size_t, IgaLine>> run_iga64(std::span<const std::byte> code, Family family) {
  if (!installed()) return std::nullopt;
  const auto [lines, messages] = disassemble_with(code, family, "-n -Xprint-pc");
  std::map<std::size_t, IgaLine> out;
  for (const std::string& line : lines) {
    // "/* [0010] */ (W) mov ..." ; labels have no such prefix.
    const std::size_t open = line.find("/* ["), close = line.find("*/");
    if (open == std::string::npos || close == std::string::npos) continue;
    IgaLine& entry = out[std::stoul(line.substr(open + 4), nullptr, 16)];
    const std::string rest = line.substr(close + 2);
    entry.text = without_comment(rest);
    if (const std::size_t comment = rest.find("//"); comment != std::string::npos)
      entry.comment = squeeze(rest.substr(comment + 2));
    if (entry.text.starts_with("illegal") && !entry.comment.empty()) entry.errors.push_back(entry.comment);
  }
  const std::string prefix = "byte offset 0x", mark = ": error: ";
  for (const std::string& message : messages) {
    const std::size_t at = message.find(mark);
    if (!message.starts_with(prefix) || at == std::string::npos) continue;
    out[std::stoul(message.substr(prefix.size()), nullptr, 16)].errors.push_back(
        message.substr(at + mark.size()));
  }
  return out;
}

std::optional<std::map<std::size_t, std::vector<std::string>>> iga64_warnings(const std::string& assembly,
                                                                              Family family) {
  if (!installed()) return std::nullopt;
  TemporaryFile in(".asm"), out(".krn"), messages(".err");
  std::ofstream(in.path()) << assembly;
  const std::string command = "iga64 -a -Wall -p " + std::string(info(family).iga64) + " " + in.path() +
                              " -o " + out.path() + " >" + messages.path() + " 2>&1";
  [[maybe_unused]] const int status = std::system(command.c_str());
  // "line 4.1: warning: register regioning ... (scalar)", followed by the line "see ... (Restriction 2.5)".
  std::map<std::size_t, std::vector<std::string>> warnings;
  std::size_t line = 0;
  const std::string prefix = "line ";
  for (const std::string& message : read_lines(messages.path())) {
    if (message.starts_with(prefix)) line = std::stoul(message.substr(prefix.size()));
    if (message.starts_with(prefix) || message.starts_with("see ")) warnings[line].push_back(message);
  }
  return warnings;
}

}  // namespace eum::gen::test
