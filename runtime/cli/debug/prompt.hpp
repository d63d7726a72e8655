#pragma once
// Prompt: reads commands, has the debugger execute them, and prints the results.
#include <iosfwd>
#include <string>
#include <string_view>

#include "runtime/cli/debug/command.hpp"
#include "runtime/cli/debug/debugger.hpp"
#include "runtime/loader/debug_line.hpp"

namespace eum::cli::debug {

class Prompt {
 public:
  Prompt(Debugger& debugger, rt::LineTable lines, std::string kernel)
      : debugger_(debugger), lines_(std::move(lines)), kernel_(std::move(kernel)) {}

  /// Runs until `quit` or the end of the input. `interactive`: prints "(eumulate) " before each line. An
  /// error concerns the host.
  Result<void> talk(std::istream& from, bool interactive);
  /// Prints the instruction that the thread is about to execute.
  void show_place();

 private:
  Result<void> execute(const Command& command);
  Result<void> advance(const Command& command);
  Result<void> add_breakpoint(const PlaceText& place);
  Result<void> take_breakpoint(const Command& command);
  Result<void> show_registers(const Command& command);
  Result<void> show_memory(const Command& command);
  Result<void> disassemble(std::uint64_t around);
  Result<void> show_threads();
  Result<void> backtrace();
  void say(Stop stop);

  Result<std::uint32_t> resolve(const PlaceText& place) const;
  std::string line_text(std::uint32_t ip) const;
  std::string where(std::uint32_t ip) const;

  Debugger& debugger_;
  rt::LineTable lines_;
  std::string kernel_;
  bool quit_ = false;
  bool broken_ = false;  // the host failed
};

}  // namespace eum::cli::debug
