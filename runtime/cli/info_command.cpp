// Prints a Program as a table or as JSON.
#include "runtime/cli/info_command.hpp"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/program_file.hpp"
#include "runtime/cli/run/image_text.hpp"
#include "runtime/cli/text_commands.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;

struct InfoOptions {
  ProgramFile program;
  bool as_json = false;
};

std::string_view kind_name(rt::ArgumentKind kind) {
  switch (kind) {
    case rt::ArgumentKind::Unused:
      return "unused";
    case rt::ArgumentKind::Value:
      return "value";
    case rt::ArgumentKind::Pointer:
      return "pointer";
    case rt::ArgumentKind::LocalPointer:
      return "local pointer";
    case rt::ArgumentKind::Image:
      return "image";
    case rt::ArgumentKind::Sampler:
      return "sampler";
  }
  return "unknown";
}

std::string_view access_name(rt::AccessQualifier access) {
  switch (access) {
    case rt::AccessQualifier::None:
      return "";
    case rt::AccessQualifier::ReadOnly:
      return "read";
    case rt::AccessQualifier::WriteOnly:
      return "written";
    case rt::AccessQualifier::ReadWrite:
      return "read and written";
  }
  return "unknown";
}

/// The kind of an argument and, if not obvious, how to pass it.
std::string kind_text(const rt::Argument& a) {
  std::string text(kind_name(a.kind));
  if (a.kind == rt::ArgumentKind::Value) text += fmt::format(", {} byte{}", a.size, a.size == 1 ? "" : "s");
  if (a.kind == rt::ArgumentKind::Sampler) text += fmt::format(": {}", sampler_form);
  if (a.kind == rt::ArgumentKind::Image) {
    if (const auto access = access_name(a.access); !access.empty()) text += fmt::format(", {}", access);
    if (const auto type = rt::image_types[a.image_type].takes) text += fmt::format(": {}", image_form(*type));
  }
  return text;
}

json to_json(const rt::Kernel& kernel) {
  json arguments = json::array();
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const rt::Argument& a = kernel.arguments[i];
    json one = {{"index", i}, {"kind", kind_name(a.kind)}, {"name", a.name}, {"type", a.type_name}};
    if (a.kind == rt::ArgumentKind::Value) one["bytes"] = a.size;
    if (const auto space = rt::qualifier_name(a.address); !space.empty()) one["address_space"] = space;
    if (a.kind == rt::ArgumentKind::Image) {
      one["image_type"] = rt::image_types[a.image_type].name;
      one["access"] = access_name(a.access);
    }
    if (a.binding) one["binding_table_index"] = *a.binding;
    arguments.push_back(std::move(one));
  }
  json result = {{"name", kernel.name},
                 {"simd", kernel.simd_size},
                 {"registers", kernel.grf_count},
                 {"slm_bytes", kernel.slm_bytes},
                 {"barriers", kernel.barrier_count},
                 {"scratch_bytes", kernel.scratch_bytes},
                 {"private_bytes", kernel.private_bytes},
                 {"arguments", std::move(arguments)}};
  if (kernel.text.file)
    result["instructions"] = kernel.text.instructions;
  else
    result["code_bytes"] = kernel.code.size();
  if (kernel.required_local_size[0] != 0) result["required_local_size"] = kernel.required_local_size;
  const std::string reason = rt::cannot_run(kernel);
  result["runs"] = reason.empty();
  if (!reason.empty()) result["unsupported"] = reason;
  return result;
}

void print_kernel(const rt::Kernel& kernel) {
  print("\nkernel {}\n", visible(kernel.name));
  print("  SIMD{}, {} registers, {}\n", kernel.simd_size, kernel.grf_count,
        kernel.text.file ? fmt::format("{} instructions", kernel.text.instructions)
                         : fmt::format("{} bytes of code", kernel.code.size()));
  print("  SLM {} bytes, barriers {}, scratch {} bytes a thread, private memory {} bytes a work item\n",
        kernel.slm_bytes, kernel.barrier_count, kernel.scratch_bytes, kernel.private_bytes);
  if (const rt::Size3& size = kernel.required_local_size; size[0] != 0)
    print("  required local size {},{},{}\n", size[0], size[1], size[2]);
  if (const std::string reason = rt::cannot_run(kernel); !reason.empty())
    print("  cannot run: {}\n", visible(reason));
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const rt::Argument& a = kernel.arguments[i];
    print("  argument {}: {} ({})\n", i, visible(rt::describe_argument(kernel, i)), kind_text(a));
  }
}

int execute(const InfoOptions& options) {
  const bool described = !options.program.ze_info.empty() || !options.program.arguments.empty();
  if (!described && holds_visa_text(options.program.file))
    return print_text_info(options.program.file, options.program.grf_bytes, options.as_json);
  rt::Program program;
  if (const auto failed = read_program(options.program, program)) return fail(failed->code, failed->error);
  const auto container = std::string(rt::container_name(program.container));
  const std::string family = rt::target_name(program);
  if (options.as_json) {
    json kernels = json::array();
    for (const rt::Kernel& kernel : program.kernels) kernels.push_back(to_json(kernel));
    const json result = {{"container", container},
                         {"family", family},
                         {"build_options", program.build_options},
                         {"kernels", std::move(kernels)}};
    // The names come from the file and may be invalid UTF-8 or contain terminal control sequences.
    print("{}\n", result.dump(2, ' ', true, json::error_handler_t::replace));
    return number(ExitCode::Ok);
  }
  print("{}: {}, {}, {} kernel{}{}{}\n", options.program.file, container, family, program.kernels.size(),
        program.kernels.size() == 1 ? "" : "s", program.build_options.empty() ? "" : ", built with ",
        visible(program.build_options));
  for (const rt::Kernel& kernel : program.kernels) print_kernel(kernel);
  return number(ExitCode::Ok);
}

}  // namespace

void add_info_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "show kernels and their arguments");
  add_program_options(*command, options->program);
  command->add_flag("--json", options->as_json, "report as JSON");
  command->footer("Example:\n  eumulate info saxpy_Gen9lp.bin\n");
  command->callback([options, &exit_code] { exit_code = execute(*options); });
}

}  // namespace eum::cli
