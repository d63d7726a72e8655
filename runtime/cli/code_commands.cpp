// Prints GEN instructions, micro-ops and host code.
#include "runtime/cli/code_commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <string>

#include "frontend/gen/instruction.hpp"
#include "frontend/visa/printer.hpp"
#include "runtime/cli/disable.hpp"
#include "runtime/cli/engine_option.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/program_file.hpp"
#include "runtime/cli/raw_words.hpp"
#include "runtime/cli/text_commands.hpp"
#include "runtime/module.hpp"

namespace eum::cli {
namespace {

struct CodeOptions {
  ProgramFile program;
  RawOptions raw;
  std::string kernel;
  bool offsets = false;
  std::string engine = "avx2";
  std::vector<std::string> disabled;
  bool passes = false;
  std::uint32_t id_run = 0;
  std::vector<std::uint32_t> id_steps, id_lines;
  bool disjoint = false;
  std::uint32_t group_items = 0;
};

/// Prints what decodes; the error gives the first instruction that does not.
Result<void> print_instructions(const CodeOptions& options, std::string_view what,
                                std::span<const std::byte> code, gen::Family family) {
  put(gen::disassemble(code, family, options.offsets));
  for (std::size_t at = 0; at < code.size();) {
    const auto instruction = gen::decode(code, at, family);
    if (!instruction) return error("{}: {}", what, instruction.error().message);
    at += instruction->length;
  }
  return {};
}

Result<void> print_kernel(const CodeOptions& options, const rt::Kernel& kernel, gen::Family family) {
  if (!kernel.text.file) return print_instructions(options, kernel.name, kernel.code, family);
  put(visible_lines(visa::print(*kernel.text.file->module)));
  return {};
}

int disassemble_raw(const CodeOptions& options) {
  RawWords words;
  if (const auto failed = read_raw(options.program.file, options.raw, words))
    return fail(failed->code, failed->error);
  const auto printed = print_instructions(options, options.program.file, words.bytes, words.family);
  return printed ? number(ExitCode::Ok) : fail(ExitCode::BadInput, printed.error());
}

int disassemble_program(const CodeOptions& options) {
  if (holds_visa_text(options.program.file)) return print_texts(options.program.file, options.kernel);
  rt::Program program;
  if (const auto failed = read_program(options.program, program)) return fail(failed->code, failed->error);
  Result<void> printed;  // or the first failure
  if (!options.kernel.empty()) {
    const rt::Kernel* kernel = program.find(options.kernel);
    if (!kernel)
      return fail(ExitCode::Mismatch,
                  error("{}: {}", options.program.file, rt::no_such_kernel(program, options.kernel)));
    printed = print_kernel(options, *kernel, program.family);
  } else {
    for (const rt::Kernel& kernel : program.kernels) {
      print("// kernel {}, SIMD{}\n", visible(kernel.name), kernel.simd_size);
      const auto one = print_kernel(options, kernel, program.family);
      if (printed) printed = one;
    }
  }
  return printed ? number(ExitCode::Ok) : fail(ExitCode::BadInput, printed.error());
}

/// A module on its own device, for inspecting one kernel.
struct Opened {
  std::unique_ptr<rt::Device> device;
  std::unique_ptr<rt::Module> module;
  OpenedText text;                     // used instead of the module for vISA text without a description
  const rt::Kernel* kernel = nullptr;  // in the module
  rt::KernelCode code;
};

/// Returns the exit code; on failure the error has been printed.
int open(const CodeOptions& options, jit::EngineKind engine, Opened& to) {
  auto device = rt::Device::create({.engine = engine, .workers = 1});
  if (!device) return fail(ExitCode::Internal, device.error());
  to.device = std::move(*device);
  const bool described = !options.program.ze_info.empty() || !options.program.arguments.empty();
  if (!described && holds_visa_text(options.program.file)) {
    const int failed = open_text(options.program.file, options.kernel, options.program.grf_bytes, to.text);
    to.code = to.text.code;
    return failed;
  }
  rt::Program program;
  if (const auto failed = read_program(options.program, program)) return fail(failed->code, failed->error);
  auto module = rt::Module::create(*to.device, std::move(program));
  if (!module) return fail(ExitCode::BadInput, error("{}: {}", options.program.file, module.error().message));
  to.module = std::move(*module);
  const auto kernel = to.module->find(options.kernel);
  if (!kernel) return fail(ExitCode::Mismatch, error("{}: {}", options.program.file, kernel.error().message));
  const auto code = to.module->code(**kernel);
  if (!code) return fail(ExitCode::BadInput, error("{}: {}", options.program.file, code.error().message));
  to.kernel = *kernel;
  to.code = *code;
  return number(ExitCode::Ok);
}

/// What holds in all launches, or as the options say.
jit::LaunchFacts kernel_facts(const CodeOptions& options, const Opened& opened) {
  jit::LaunchFacts facts{.own_images = true};
  if (opened.kernel) facts.pointers = rt::pointer_arguments(*opened.kernel, opened.code.grf_bytes());
  facts.disjoint_surfaces = options.disjoint;
  const rt::KernelCode& code = opened.code;
  if (const std::uint32_t run = std::min(options.id_run, code.simd); run != 0)
    facts.ids = opened.kernel ? rt::consecutive_ids(*opened.kernel, code.grf_bytes(), run)
                              : ir::ConsecutiveIds{code.grf_bytes(), code.simd, run};
  return facts;
}

int print_micro_ops(const CodeOptions& options) {
  const auto left = left_without(options.disabled);
  if (!left) return fail(ExitCode::Usage, left.error());
  Opened opened;
  if (const int failed = open(options, jit::EngineKind::reference, opened)) return failed;
  const auto text = options.passes
                        ? rt::passed_micro_op_text(opened.code, kernel_facts(options, opened), *left)
                        : rt::micro_op_text(opened.code);
  if (!text) return fail(ExitCode::BadInput, text.error());
  put(visible_lines(*text));
  return number(ExitCode::Ok);
}

/// The listing, with each "; @0x88" followed by the guest instruction at that address.
std::string annotated(std::string_view listing, const rt::KernelCode& code) {
  constexpr std::string_view mark = "; @0x";
  std::string text;
  while (!listing.empty()) {
    const std::size_t length = std::min(listing.find('\n'), listing.size() - 1) + 1;
    const std::string_view line = listing.substr(0, length);
    listing.remove_prefix(length);
    const auto at = line.find(mark);
    std::uint32_t ip = 0;
    if (at == std::string_view::npos ||
        std::from_chars(line.data() + at + mark.size(), line.data() + line.size(), ip, 16).ec !=
            std::errc()) {
      text += line;
      continue;
    }
    text += fmt::format("; @{:#x}  {}\n", ip, rt::instruction_text(code, ip));
  }
  return text;
}

int print_host_code(const CodeOptions& options) {
  const auto left = left_without(options.disabled);
  if (!left) return fail(ExitCode::Usage, left.error());
  Opened opened;
  const auto engine = engine_of(options.engine);
  if (!engine) return fail(ExitCode::Usage, engine.error());
  if (*engine == jit::EngineKind::reference)
    return fail(ExitCode::Usage, error("--engine: expected one that translates, found {}", options.engine));
  if (const int failed = open(options, *engine, opened)) return failed;
  const rt::KernelCode& code = opened.code;
  jit::CompileOptions compile{.listing = true, .exact_registers = false, .optimisations = *left};
  compile.launch = kernel_facts(options, opened);
  jit::IdSteps& steps = compile.launch.id_steps;
  std::ranges::copy(options.id_steps, steps.by_line.begin());
  if (!options.id_lines.empty()) {
    steps.line_threads = std::max(options.id_lines[0], 1u);
    std::ranges::copy(std::span(options.id_lines).subspan(1), steps.in_line.begin());
  }
  if (options.group_items != 0 && options.group_items <= code.simd) {
    compile.launch.channels = options.group_items;
    compile.launch.lone_threads = true;
  }
  const auto translated = rt::translate(code, opened.device->engine(), compile);
  if (!translated) return fail(ExitCode::Internal, translated.error());
  print("; {}: {} guest instructions, {} bytes of host code\n{}", visible(code.name),
        translated->instructions, translated->executable->code_bytes(),
        visible_lines(annotated(translated->executable->listing(), code)));
  return number(ExitCode::Ok);
}

void add_disasm(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CodeOptions>();
  CLI::App* command = app.add_subcommand(
      "disasm", "print GEN instructions in the syntax of iga64, or vISA text as it is understood");
  add_program_options(*command, options->program);
  add_raw_options(*command, options->raw, options->kernel);
  command->add_flag("--offsets", options->offsets,
                    "where each instruction begins, and labels, in hexadecimal as faults say it");
  command->footer(
      "Examples:\n  eumulate disasm saxpy_Gen9lp.bin\n  eumulate disasm saxpy_Gen9lp.bin --kernel saxpy "
      "--offsets\n"
      "  eumulate disasm words.dat --raw --family gen9\n");
  command->callback([options, &exit_code] {
    exit_code = options->raw.raw ? disassemble_raw(*options) : disassemble_program(*options);
  });
}

CLI::App* add_one_kernel(CLI::App& app, int& exit_code, const char* name, const char* what,
                         int (*run)(const CodeOptions&), const std::shared_ptr<CodeOptions>& options) {
  CLI::App* command = app.add_subcommand(name, what);
  add_program_options(*command, options->program);
  command->add_option("--kernel", options->kernel, "name of the kernel")->required();
  add_disable_option(*command, options->disabled);
  command->footer(fmt::format("Example:\n  eumulate {} saxpy_Gen9lp.bin --kernel saxpy\n", name));
  command->callback([options, run, &exit_code] { exit_code = run(*options); });
  return command;
}

}  // namespace

void add_code_commands(CLI::App& app, int& exit_code) {
  add_disasm(app, exit_code);
  auto ir = std::make_shared<CodeOptions>();
  CLI::App* command =
      add_one_kernel(app, exit_code, "ir", "print a kernel as micro-ops", print_micro_ops, ir);
  command->add_flag("--passes", ir->passes, "as the passes over micro-ops leave them");
  command->get_option("--disable")->needs("--passes");
  const auto add_promises = [](CLI::App& to, CodeOptions& options) {
    to.add_flag("--disjoint", options.disjoint,
                "as where no two buffers share memory, which each launch finds out");
    to.add_option("--id-run", options.id_run,
                  "as where local ids go up by one in runs of so many channels, which each launch finds out")
        ->check(CLI::IsMember({8u, 16u, 32u}));
  };
  add_promises(*command, *ir);
  for (const char* promise : {"--disjoint", "--id-run"}) command->get_option(promise)->needs("--passes");
  auto host = std::make_shared<CodeOptions>();
  command =
      add_one_kernel(app, exit_code, "asm", "print a kernel's host code, annotated with guest instructions",
                     print_host_code, host);
  add_engine_option(*command, host->engine);
  add_promises(*command, *host);
  command
      ->add_option("--id-steps", host->id_steps,
                   "as where local ids are so much higher in each thread than in the one before: X,Y,Z")
      ->delimiter(',')
      ->expected(1, 3)
      ->needs("--id-run");
  command
      ->add_option(
          "--id-lines", host->id_lines,
          "as where so many threads form a line in which local ids are so much higher in each: N,X,Y,Z; "
          "--id-steps then says from line to line")
      ->delimiter(',')
      ->expected(2, 4)
      ->needs("--id-steps");
  command->add_option("--group-items", host->group_items,
                      "as where each group has so many work items, which one thread has channels for");
}

}  // namespace eum::cli
