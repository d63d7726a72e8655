// The command-line program: one subcommand a file of this folder.
#include <CLI/CLI.hpp>

#include "runtime/cli/msr_command.hpp"

int main(int argc, char** argv) {
  CLI::App app("Eumulate, a functional emulator of Intel GEN execution units", "eumulate");
  app.require_subcommand(1);
  int exit_code = 0;
  eum::cli::add_msr_command(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
