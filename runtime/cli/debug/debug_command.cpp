// A prompt for inspecting one kernel interactively or from a script. Commands come from standard input or
// from --script.
#include "runtime/cli/debug/debug_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "runtime/cli/debug/prompt.hpp"
#include "runtime/cli/engine_option.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/run/report.hpp"
#include "runtime/cli/run_command.hpp"
#include "runtime/cli/text_commands.hpp"

namespace eum::cli {
namespace {

struct DebugOptions {
  RunOptions run;
  std::string script;
};

/// Handles --print, --dump and --expect for a kernel that has ended.
int take_outputs(Step& step) {
  int code = number(ExitCode::Ok);
  for (OutputRequest& request : step.outputs) {
    if (auto taken = take_contents(request); !taken) return fail(ExitCode::Internal, taken.error());
    if (request.kind == OutputRequest::Kind::Print) print_values(request);
    if (request.kind == OutputRequest::Kind::Dump)
      if (auto written = write_dump(request); !written) return fail(ExitCode::BadInput, written.error());
    if (request.kind != OutputRequest::Kind::Expect) continue;
    const Comparison comparison =
        compare(request.element, request.contents(), request.expected, request.tolerance);
    if (comparison.different != 0)
      code = fail(ExitCode::Different, Error{difference_text(request, comparison)});
  }
  return code;
}

int execute(const DebugOptions& options) {
  Session session(options.run);
  if (const auto failure = session.prepare()) return fail(failure->code, failure->error);
  Step& step = session.steps()[0];
  if (step.kernel->text.file)
    return fail(ExitCode::Mismatch, error("{}: expected machine code, found vISA text", step.kernel->name));
  rt::LineTable lines;
  if (const auto binary = read_file(options.run.program.file)) {
    // Invalid line information must not prevent debugging of instructions.
    auto found = rt::read_line_table(*binary, step.kernel->name);
    if (found)
      lines = std::move(*found);
    else
      warn(found.error().message);
  }
  std::ifstream script;
  if (!options.script.empty()) {
    script.open(options.script);
    if (!script) return fail(ExitCode::BadInput, error("{}: cannot be read", options.script));
  }
  debug::Debugger debugger(session);
  if (const auto failure = debugger.begin()) return fail(failure->code, failure->error);
  debug::Prompt prompt(debugger, std::move(lines), step.kernel->name);
  prompt.show_place();
  const bool interactive = options.script.empty() && isatty(STDIN_FILENO) != 0;
  if (const auto talked = prompt.talk(options.script.empty() ? std::cin : script, interactive); !talked)
    return fail(ExitCode::Internal, talked.error());
  put(visible_lines(step.launch->take_printf().text));
  if (debugger.fault()) return fail(ExitCode::GuestFault, Error{debugger.fault()->message});
  return debugger.over() ? take_outputs(step) : number(ExitCode::Ok);
}

}  // namespace

void add_debug_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DebugOptions>();
  RunOptions& run = options->run;
  run.kernels.resize(1);
  run.threads = 1;
  run.every_instruction = true;
  CLI::App* command = app.add_subcommand("debug", "execute a kernel instruction by instruction, at a prompt");
  add_program_options(*command, run.program);
  command->add_option("--kernel", run.kernels[0].kernel, "name of the kernel")->required();
  add_kernel_options(*command, run.kernels[0]);
  add_engine_option(*command, run.engine);
  command->add_option("--budget", run.budget, "guest instructions that one guest thread may execute")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->capture_default_str();
  command->add_option("--limit", run.limits, limit_help())->allow_extra_args(false);
  command->add_flag(
      "--strict", run.strict,
      "an access by address behind the end of a buffer faults, also within the buffer's last page");
  command->add_option("--script", options->script, "file of commands, in place of the standard input");
  command->footer("Commands:\n" + debug::help_text() +
                  "\nA line that begins with # is a comment. Exit code 4 if the kernel faulted.\n\n"
                  "Example:\n  eumulate debug saxpy_Gen9lp.bin --kernel saxpy --global 64 --arg f32:2 --arg "
                  "iota:f32:64 \\\n    --arg zeros:256 --arg i32:64\n");
  command->callback([options, &exit_code] { exit_code = execute(*options); });
}

}  // namespace eum::cli
