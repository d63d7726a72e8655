// The command-line program: its subcommands are in the other files of this folder.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/bench/bench_command.hpp"
#include "runtime/cli/check/check_command.hpp"
#include "runtime/cli/code_commands.hpp"
#include "runtime/cli/debug/debug_command.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/info_command.hpp"
#include "runtime/cli/isa/isa_command.hpp"
#include "runtime/cli/msr_command.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/run_command.hpp"

namespace {

using namespace eum::cli;

/// "no command fly: expected run, info, ..." if the first word is not a command, else the parser's message.
eum::Error usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  std::string names;
  bool known = word.empty() || word.starts_with('-');
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known |= command->get_name() == word;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  if (known) return eum::error("{} (see eumulate --help)", e.what());
  return eum::error("no command {}: expected {}", word, names);
}

/// Grows the stack at start: under a limit of address space (ulimit -v), later growth could fail with
/// SIGSEGV, while a failed allocation is an error. Only one page is touched.
[[gnu::noinline]] void grow_stack() {
  [[maybe_unused]] volatile char room[512 * 1024];
  room[0] = 0;
}

void add_other_commands(CLI::App& app, int& exit_code) {
  add_bench_command(app, exit_code);
  add_info_command(app, exit_code);
  add_code_commands(app, exit_code);
  add_isa_command(app, exit_code);
  add_check_command(app, exit_code);
  add_debug_command(app, exit_code);
  add_msr_command(app, exit_code);
}

int run(int argc, char** argv) {
  CLI::App app("Eumulate, a functional emulator of Intel GEN execution units", "eumulate");
  app.require_subcommand(1);
  app.set_version_flag("--version", "eumulate " EUMULATE_VERSION);
  app.footer(
      "eumulate COMMAND --help shows the options of a command, with an example.\n\n" + exit_code_text() +
      "eumulate msr run and trace end with the exit code of the program that they run, and with 127 if "
      "they cannot run it.");
  int exit_code = 0;
  std::vector<std::string> words(argv + 1, argv + argc);
  // Suites start `run` for each kernel: the options of other commands are not worth building then.
  const bool runs = !words.empty() && words[0] == "run";
  std::vector<std::vector<std::string>> following;
  if (runs) following = take_following(words);
  add_run_command(app, exit_code, following);
  if (!runs) add_other_commands(app, exit_code);
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(e, text, text);
      put(text.str());
      return number(ExitCode::Ok);
    }
    return fail(ExitCode::Usage, usage_error(app, e, argc, argv));
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  grow_stack();
  try {
    return finish_output(run(argc, argv));
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::Internal, eum::error("the host has no memory for what the command asks for"));
  } catch (const std::exception& e) {
    return fail(ExitCode::Internal, eum::error("{}", e.what()));
  }
}
