// Determines the kind of a file and has the loader read it.
#include "runtime/cli/program_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/cli/files.hpp"
#include "runtime/cli/source/compile.hpp"
#include "runtime/loader/loader.hpp"

namespace eum::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view text_ending = ".visaasm";

bool is_source(std::string_view path) {
  return path.ends_with(".cl") || path.ends_with(".clcpp") || path.ends_with(".ocl");
}

/// Whether the text begins with the version, after comments and blanks.
bool begins_as_text(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  for (;;) {
    const auto at = text.find_first_not_of(blanks);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at);
    if (!text.starts_with("//")) return text.starts_with(".version");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

Result<rt::Program> load_text(const ProgramFile& file) {
  std::vector<std::string> paths = visa_texts(file.file);
  std::vector<std::vector<std::byte>> contents;
  std::vector<rt::NamedFile> texts;
  for (const std::string& path : paths) {
    auto bytes = read_file(path);
    if (!bytes) return bytes.error();
    contents.push_back(std::move(*bytes));
  }
  for (std::size_t i = 0; i < paths.size(); ++i) texts.push_back({paths[i], contents[i]});
  const bool map = !file.arguments.empty();
  const std::string& path = map ? file.arguments : file.ze_info;
  const auto arguments = read_file(path);
  if (!arguments) return arguments.error();
  return rt::load_visa(texts, {path, *arguments}, map ? rt::ArgumentFormat::Map : rt::ArgumentFormat::ZeInfo,
                       file.grf_bytes);
}

std::optional<Failure> load_source(const ProgramFile& file, rt::Program& program) {
  auto compiled = compile({file.file, file.device, file.build_options});
  if (!compiled) return Failure{ExitCode::BadInput, prefixed(file.file, compiled.error())};
  const auto binary = read_file(compiled->binary());
  if (!binary) return Failure{ExitCode::BadInput, binary.error()};
  // The machine code if its family can be decoded, else the vISA text.
  auto loaded = rt::load_program(*binary);
  if (!loaded) {
    ProgramFile text;
    text.file = compiled->folder();
    text.ze_info = compiled->binary();
    text.grf_bytes = file.grf_bytes;
    loaded = load_text(text);
  }
  if (!loaded) return Failure{ExitCode::BadInput, prefixed(file.file, loaded.error())};
  program = std::move(*loaded);
  return std::nullopt;
}

}  // namespace

void add_program_options(CLI::App& command, ProgramFile& to) {
  command
      .add_option(
          "file", to.file,
          "compiled program (ocloc -device bxt; either container), vISA text (.visaasm) or a folder of it, "
          "or OpenCL C source (.cl)")
      ->required();
  auto* ze_info =
      command.add_option("--ze-info", to.ze_info,
                         "of vISA text: zebin of the same compile, or the text of its section .ze_info");
  command
      .add_option("--arguments", to.arguments,
                  "of vISA text: YAML that says where its arguments lie (runtime/loader/argument_map.hpp)")
      ->excludes(ze_info);
  command
      .add_option("--grf", to.grf_bytes, "of vISA text: bytes of a register (default: as it was written for)")
      ->check(CLI::IsMember({32u, 64u}));
  command.add_option("--device", to.device, "of source: what ocloc compiles it for")->capture_default_str();
  command.add_option("--options", to.build_options, "of source: options of the OpenCL C compiler");
}

std::vector<std::string> visa_texts(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return {path};
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for (const auto& entry : fs::directory_iterator(path, failed))
    if (entry.path().extension() == text_ending)
      found.emplace_back(entry.last_write_time(failed), entry.path().string());
  // For equal times: a second dump of a kernel, whose name has an additional number, is later.
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second.size(), a.second) < std::tuple(b.first, b.second.size(), b.second);
  });
  std::vector<std::string> paths;
  for (auto& [time, text] : found) paths.push_back(std::move(text));
  return paths;
}

bool holds_visa_text(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return !visa_texts(path).empty();
  if (!fs::is_regular_file(path, failed)) return false;
  constexpr std::size_t most = std::size_t{64} * 1024;
  const auto head = std::make_unique_for_overwrite<char[]>(most);  // a small file touches few of its pages
  std::ifstream file(path, std::ios::binary);
  file.read(head.get(), most);
  return begins_as_text({head.get(), static_cast<std::size_t>(file.gcount())}) || path.ends_with(text_ending);
}

std::optional<Failure> read_program(const ProgramFile& file, rt::Program& program) {
  if (is_source(file.file)) return load_source(file, program);
  const bool described = !file.ze_info.empty() || !file.arguments.empty();
  if (holds_visa_text(file.file)) {
    if (!described)
      return Failure{
          ExitCode::Usage,
          error("{}: vISA text does not say what its kernels take: expected --ze-info FILE, a zebin "
                "of the same compile or its .ze_info, or --arguments FILE",
                file.file)};
    auto loaded = load_text(file);
    if (!loaded) return Failure{ExitCode::BadInput, loaded.error()};
    program = std::move(*loaded);
    return std::nullopt;
  }
  if (described || file.grf_bytes != 0)
    return Failure{ExitCode::Usage,
                   error("{}: --ze-info, --arguments and --grf are of vISA text, which begins with .version",
                         file.file)};
  const auto bytes = read_file(file.file);
  if (!bytes) return Failure{ExitCode::BadInput, bytes.error()};
  auto loaded = rt::load_program(*bytes);
  if (!loaded) return Failure{ExitCode::BadInput, prefixed(file.file, loaded.error())};
  program = std::move(*loaded);
  return std::nullopt;
}

}  // namespace eum::cli
