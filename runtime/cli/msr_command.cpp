// The command line of `eumulate msr`.
#include "runtime/cli/msr_command.hpp"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>

#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/msr_exec.hpp"
#include "runtime/cli/msr_run.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/user_msr/native/variables.hpp"

namespace eum::cli {
namespace {

constexpr int exit_not_run = 127;  // as shells do

void add_program(CLI::App& command, MsrRun& run) {
  command.add_option("--config", run.config, "TOML file with a [[msr]] table for each register")
      ->required()
      ->check(CLI::ExistingFile);
  command.add_option("program", run.command, "program and its arguments, behind --")->required();
  command.add_flag_callback(
      "--no-cpuid", [&run] { run.cpuid = rt::native::cpuid_off; },
      "CPUID does not show USER_MSR, (EAX=7,ECX=1):EDX[15]");
  command.positionals_at_end();
}

void add_run(CLI::App& msr, int& exit_code) {
  auto run = std::make_shared<MsrRun>();
  auto trap_only = std::make_shared<bool>(false);
  CLI::App* command = msr.add_subcommand("run", "run a native program that uses URDMSR and UWRMSR");
  add_program(*command, *run);
  command->add_flag("--trap-only", *trap_only, "do not patch the program: each access traps");
  command->footer(
      "Keys of a [[msr]] table:\n"
      "  address = 0x10        0 to 0x3fff, but for 0x1c\n"
      "  name = \"TSC_COPY\"     optional\n"
      "  read, write           true or false: the bits of the bitmap; write is false if absent (or, once "
      "and\n"
      "                        before the tables, bitmap = \"PATH\", a file of 4096 bytes)\n"
      "  value = 3             or source = \"counter\", \"tsc\" or \"file:PATH\"; a string for numbers from "
      "2^63\n"
      "                        on, such as \"0xffffffffffffffff\"\n"
      "  reserved = 0xff00     optional: bits that must be 0 in a write\n"
      "  writable = false      optional: a register that takes no write\n"
      "\n"
      "Example: MSR 10H reads as 3, and the program may not write it\n"
      "  printf '[[msr]]\\naddress = 0x10\\nread = true\\nwrite = false\\nvalue = 3\\n' > msrs.toml\n"
      "  eumulate msr run --config msrs.toml -- ./program\n");
  command->callback([run, trap_only, &exit_code] {
    if (*trap_only) run->patch = rt::native::patch_off;
    fail(ExitCode::BadInput, run_with_msrs(*run));
    exit_code = exit_not_run;
  });
}

void add_trace(CLI::App& msr, int& exit_code) {
  auto run = std::make_shared<MsrRun>();
  run->trace = "-";
  CLI::App* command = msr.add_subcommand("trace", "run a native program and log each access");
  add_program(*command, *run);
  command->add_option("--output", run->trace, "file to append to (default: standard error)");
  command->footer("Example:\n  eumulate msr trace --config msrs.toml --output accesses.txt -- ./program\n");
  command->callback([run, &exit_code] {
    fail(ExitCode::BadInput, run_with_msrs(*run));
    exit_code = exit_not_run;
  });
}

void add_exec(CLI::App& msr, int& exit_code) {
  auto exec = std::make_shared<MsrExec>();
  auto path = std::make_shared<std::string>();
  CLI::App* command = msr.add_subcommand("exec", "execute bytes and print the state before and after");
  command->add_option("bytes", exec->hex, "hexadecimal bytes, such as f2 0f 38 f8 c8")->required();
  command->add_option("--config", *path, "TOML file with the registers")->check(CLI::ExistingFile);
  command->add_option("--engine", exec->engine, "avx2 or reference")->capture_default_str();
  command->add_option("--cpl", exec->cpl, "current privilege level")->capture_default_str();
  command->add_option("--set", exec->set, "a register before, such as rcx=0x10")->allow_extra_args(false);
  command->add_flag("--disabled", exec->disabled, "IA32_USER_MSR_CTL bit 0 is 0");
  command->add_flag("--guest", exec->guest, "in VMX non-root operation, where each access exits");
  command->footer(
      "Example: urdmsr rax, rcx\n  eumulate msr exec --config msrs.toml --set rcx=0x10 f2 0f 38 f8 c8\n");
  command->callback([exec, path, &exit_code] {
    std::optional<rt::MsrConfig> config;
    if (!path->empty()) {
      Result<rt::MsrConfig> loaded = rt::load_msr_config(*path);
      if (!loaded) {
        exit_code = fail(ExitCode::BadInput, loaded.error());
        return;
      }
      config.emplace(std::move(*loaded));
    }
    const Result<MsrExecResult> result = exec_msr_bytes(*exec, config ? &*config : nullptr);
    if (!result) {
      exit_code = fail(ExitCode::Usage, result.error());
      return;
    }
    print("{}", result->text);
    exit_code = number(result->completed ? ExitCode::Ok : ExitCode::GuestFault);
  });
}

}  // namespace

void add_msr_command(CLI::App& app, int& exit_code) {
  CLI::App* msr = app.add_subcommand("msr", "user-mode MSR access (URDMSR, UWRMSR) on machines that lack it");
  msr->require_subcommand(1);
  add_run(*msr, exit_code);
  add_trace(*msr, exit_code);
  add_exec(*msr, exit_code);
}

}  // namespace eum::cli
