// The command line of `eumulate run`, and its sequence: everything is prepared before the first kernel runs,
// and results are reported and written whether or not the kernels completed.
#include "runtime/cli/run_command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/disable.hpp"
#include "runtime/cli/engine_option.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/run/report.hpp"
#include "runtime/cli/run/session.hpp"

namespace eum::cli {
namespace {

constexpr std::string_view then = "--then";

/// Prints what went wrong in a run that took place, and returns its exit code.
int outcome(Session& session, const RunOptions& options, const std::vector<Expectation>& expectations) {
  int code = number(ExitCode::Ok);
  for (const Expectation& expectation : expectations)
    if (expectation.comparison.different != 0)
      code = fail(ExitCode::Different, Error{difference_text(*expectation.request, expectation.comparison)});
  const Step* step = session.ended_early();
  if (step == nullptr) return code;
  if (step->report.fault) return fail(ExitCode::GuestFault, Error{step->report.fault->message});
  const bool late = session.stop_reason() == Watch::Reason::Timeout;
  return fail(ExitCode::Stopped,
              error("{}: stopped {}, {} groups of it were done", step->kernel->name,
                    late ? fmt::format("after --timeout {} seconds", *options.timeout) : "by a signal",
                    step->report.counts.groups));
}

int execute(const RunOptions& options) {
  Session session(options);
  if (const auto failure = session.prepare()) return fail(failure->code, failure->error);
  if (const auto failure = session.run()) return fail(failure->code, failure->error);
  std::vector<Expectation> expectations;
  for (Step& step : session.steps())
    for (OutputRequest& request : step.outputs) {
      if (auto taken = take_contents(request); !taken) return fail(ExitCode::Internal, taken.error());
      if (request.kind == OutputRequest::Kind::Dump)
        if (auto written = write_dump(request); !written) return fail(ExitCode::BadInput, written.error());
      // The contents left by a kernel that did not complete are not compared.
      if (request.kind == OutputRequest::Kind::Expect && session.ended_early() == nullptr)
        expectations.push_back(
            {&request, compare(request.element, request.contents(), request.expected, request.tolerance)});
    }
  if (options.as_json)
    print_json(session, expectations);
  else
    print_text(session);
  for (const std::string& warning : session.warnings()) warn(warning);
  return outcome(session, options, expectations);
}

/// Parses the kernels of --then, each from its own words.
Result<void> parse_following(const std::vector<std::vector<std::string>>& following, RunOptions& options) {
  for (const std::vector<std::string>& words : following) {
    CLI::App command("", std::string(then));
    KernelOptions kernel;
    command.set_help_flag();
    command.add_option("kernel", kernel.kernel, "name of the kernel")->required();
    add_kernel_options(command, kernel);
    try {
      command.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& e) {
      return error("{}: {} (see eumulate run --help)", then, e.what());
    }
    options.kernels.push_back(std::move(kernel));
  }
  return {};
}

}  // namespace

void add_kernel_options(CLI::App& command, KernelOptions& to) {
  command.add_option("--global", to.global, "work items: X, X,Y or X,Y,Z")->required();
  command.add_option("--local", to.local, "work items of a group (default: chosen)");
  command.add_option("--offset", to.offset, "global id of the first work item (default: 0)");
  command.add_option("--arg", to.arguments, argument_help())->allow_extra_args(false);
  command
      .add_option(
          "--dump", to.dumps,
          "INDEX=FILE: write a buffer or an image to a file afterwards (to FILE.npy: for NumPy; an image to "
          "FILE.png: as a picture, to another name tightly packed); INDEX is the argument's number or the "
          "buffer's name")
      ->allow_extra_args(false);
  command
      .add_option(
          "--print", to.prints,
          fmt::format(
              "INDEX[:COUNT]: print the first elements of a buffer, or texels of an image (default: {})",
              default_print))
      ->allow_extra_args(false);
  command
      .add_option(
          "--expect", to.expects,
          "INDEX=FILE[:ulp=N|abs=X|rel=X]: compare a buffer with a file afterwards, bit for bit or with a "
          "tolerance")
      ->allow_extra_args(false);
}

std::vector<std::vector<std::string>> take_following(std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> following;
  const auto first = std::find(words.begin(), words.end(), then);
  for (auto word = first; word != words.end(); ++word) {
    if (*word == then)
      following.emplace_back();
    else
      following.back().push_back(*word);
  }
  words.erase(first, words.end());
  return following;
}

void add_run_command(CLI::App& app, int& exit_code, const std::vector<std::vector<std::string>>& following) {
  auto options = std::make_shared<RunOptions>();
  options->kernels.resize(1);
  auto& first = options->kernels[0];
  CLI::App* command = app.add_subcommand("run", "run a kernel over a range of work items");
  add_program_options(*command, options->program);
  command->add_option("--kernel", first.kernel, "name of the kernel")->required();
  add_kernel_options(*command, first);
  add_engine_option(*command, options->engine);
  command->add_option("--threads", options->threads, "host threads (default: one for each processor)")
      ->check(CLI::Range(1u, rt::max_thread_slots));
  command->add_option("--budget", options->budget, "guest instructions that one guest thread may execute")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->capture_default_str();
  command->add_option("--limit", options->limits, limit_help())->allow_extra_args(false);
  add_disable_option(*command, options->disabled);
  command->add_flag(
      "--strict", options->strict,
      "an access by address behind the end of a buffer faults, also within the buffer's last page");
  command->add_flag("--bounds", options->bounds,
                    "report accesses beyond surfaces (they read 0 or are dropped): slower");
  command->add_option("--timeout", options->timeout, "seconds after which the kernels are stopped")
      ->check(CLI::Range(0.0, 1e9));
  command->add_option("--repeat", options->repeat, "run so many times; buffers keep what they hold")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  command->add_flag("--profile", options->profile,
                    "samples where the time goes: every instruction with its share; one thread");
  command->add_flag("--json", options->as_json, "report as JSON");
  command->footer(
      "--then KERNEL ... runs another kernel of the file after this one, with --global, --local, --offset, "
      "--arg,\n"
      "--dump, --print and --expect of its own behind it; buffers with names are shared.\n\n"
      "Ctrl-C ends the kernels as --timeout does: what was done until then is reported and written.\n\n"
      "Examples: y = 2.5 * x + y over 1024 floats, once and then again with x and y exchanged\n"
      "  eumulate run saxpy_Gen9lp.bin --kernel saxpy --global 1024 --arg f32:2.5 --arg iota:f32:1024 \\\n"
      "    --arg random:f32:1024:1 --arg i32:1024 --print 2:8\n"
      "  eumulate run saxpy_Gen9lp.bin --kernel saxpy --global 1024 --arg f32:2.5 --arg x=iota:f32:1024 \\\n"
      "    --arg y=zeros:4096 --arg i32:1024 --then saxpy --global 1024 --arg f32:1 --arg y --arg x \\\n"
      "    --arg i32:1024 --print x:8\n");
  command->callback([options, &following, &exit_code] {
    if (auto parsed = parse_following(following, *options); !parsed)
      exit_code = fail(ExitCode::Usage, parsed.error());
    else
      exit_code = execute(*options);
  });
}

}  // namespace eum::cli
