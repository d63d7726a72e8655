// Prints parsed vISA text, and the properties that it states itself.
#include "runtime/cli/text_commands.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/printer.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/program_file.hpp"
#include "runtime/loader/visa_text.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;

Result<std::vector<rt::ParsedText>> read_texts(const std::string& path) {
  std::vector<rt::ParsedText> texts;
  for (const std::string& one : visa_texts(path)) {
    const auto bytes = read_file(one);
    if (!bytes) return bytes.error();
    auto parsed =
        rt::parse_text(one, std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
    if (!parsed) return parsed.error();
    texts.push_back(std::move(*parsed));
  }
  return texts;
}

/// Kernels, without functions, and their texts.
using KernelPlace = std::pair<const rt::ParsedText*, std::size_t>;
std::vector<KernelPlace> kernels_of(const std::vector<rt::ParsedText>& texts) {
  std::vector<KernelPlace> places;
  for (const rt::ParsedText& text : texts)
    for (std::size_t k = 0; k < text.module->kernels.size(); ++k)
      if (!text.module->kernels[k].is_function) places.emplace_back(&text, k);
  return places;
}

/// The last kernel with this name; if there is none, prints an error and returns null.
const KernelPlace* find(const std::vector<KernelPlace>& places, const std::string& path,
                        const std::string& kernel) {
  std::string names;
  const KernelPlace* found = nullptr;
  for (const KernelPlace& place : places) {
    const std::string& name = place.first->module->kernels[place.second].name;
    names += (names.empty() ? "" : ", ") + name;
    if (name == kernel) found = &place;
  }
  if (found == nullptr)
    fail(ExitCode::Mismatch, error("{}: no kernel {}: expected one of {}", path, kernel, names));
  return found;
}

}  // namespace

int open_text(const std::string& path, const std::string& kernel, unsigned grf_bytes, OpenedText& to) {
  auto texts = read_texts(path);
  if (!texts) return fail(ExitCode::BadInput, texts.error());
  const auto places = kernels_of(*texts);
  const KernelPlace* place = find(places, path, kernel);
  if (place == nullptr) return number(ExitCode::Mismatch);
  const visa::Kernel& found = place->first->module->kernels[place->second];
  const auto simd = visa::simd_size(found);
  if (!simd)
    return fail(ExitCode::BadInput,
                error("{}: kernel {}: {}", place->first->name, kernel, simd.error().message));
  to.module = place->first->module;
  to.source = place->first->source;
  to.code.name = found.name;
  to.code.bytes = std::as_bytes(std::span(to.source));
  to.code.simd = *simd;
  to.code.text = {to.module.get(), static_cast<std::uint32_t>(place->second),
                  grf_bytes != 0 ? grf_bytes : visa::register_bytes(found), nullptr};
  return number(ExitCode::Ok);
}

int print_texts(const std::string& path, const std::string& kernel) {
  auto texts = read_texts(path);
  if (!texts) return fail(ExitCode::BadInput, texts.error());
  if (kernel.empty()) {
    for (const rt::ParsedText& text : *texts) put(visible_lines(visa::print(*text.module)));
    return number(ExitCode::Ok);
  }
  const auto places = kernels_of(*texts);
  const KernelPlace* place = find(places, path, kernel);
  if (place == nullptr) return number(ExitCode::Mismatch);
  visa::Module module = *place->first->module;
  std::erase_if(module.kernels,
                [&](const visa::Kernel& one) { return !one.is_function && one.name != kernel; });
  put(visible_lines(visa::print(module)));
  return number(ExitCode::Ok);
}

int print_text_info(const std::string& path, unsigned grf_bytes, bool as_json) {
  auto texts = read_texts(path);
  if (!texts) return fail(ExitCode::BadInput, texts.error());
  json kernels = json::array();
  const auto places = kernels_of(*texts);
  if (!as_json) print("{}: vISA text, {} kernel{}\n", path, places.size(), places.size() == 1 ? "" : "s");
  for (const auto& [text, index] : places) {
    const visa::Kernel& kernel = text->module->kernels[index];
    const auto simd = visa::simd_size(kernel);
    const unsigned bytes = grf_bytes != 0 ? grf_bytes : visa::register_bytes(kernel);
    json inputs = json::array();
    if (!as_json)
      print("\nkernel {}\n  {}, registers of {} bytes, {} instructions\n", visible(kernel.name),
            simd ? fmt::format("SIMD{}", *simd) : visible(simd.error().message), bytes,
            kernel.instructions.size());
    for (const visa::Input& input : kernel.inputs) {
      const visa::Variable& variable = kernel.variables[input.variable];
      const std::uint64_t size = input.size != 0 ? input.size : variable.bytes();
      if (as_json)
        inputs.push_back({{"variable", variable.name}, {"offset", input.offset}, {"bytes", size}});
      else
        print("  {} {}: {} bytes at {}\n", visible(input.directive), visible(variable.name), size,
              input.offset);
    }
    json one = {{"name", kernel.name},
                {"register_bytes", bytes},
                {"instructions", kernel.instructions.size()},
                {"inputs", std::move(inputs)}};
    if (simd) one["simd"] = *simd;
    kernels.push_back(std::move(one));
  }
  if (as_json) {
    const json result = {{"container", rt::container_name(rt::Container::Visa)},
                         {"kernels", std::move(kernels)}};
    print("{}\n", result.dump(2, ' ', true, json::error_handler_t::replace));
  }
  return number(ExitCode::Ok);
}

}  // namespace eum::cli
