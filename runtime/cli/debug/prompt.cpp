// The result of a command is printed in one or two lines; an error in one line that begins with "error: ",
// after which the session continues.
#include "runtime/cli/debug/prompt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <istream>

#include "runtime/cli/debug/values.hpp"
#include "runtime/cli/output.hpp"

namespace eum::cli::debug {
namespace {

std::string group_text(const std::array<std::uint32_t, 3>& group) {
  return fmt::format("{},{},{}", group[0], group[1], group[2]);
}

std::string_view name(rt::ThreadPhase phase) {
  constexpr std::string_view names[] = {"not begun", "running", "at a barrier", "ended"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace

/// "saxpy.cl:3", or nothing.
std::string Prompt::line_text(std::uint32_t ip) const {
  const rt::LineRow* row = lines_.at(ip);
  if (row == nullptr) return "";
  return fmt::format("{}:{}", row->file < lines_.files.size() ? lines_.files[row->file] : "?", row->line);
}

/// "saxpy+0x40, saxpy.cl:3"
std::string Prompt::where(std::uint32_t ip) const {
  const std::string line = line_text(ip);
  return visible(fmt::format("{}+{:#x}{}{}", kernel_, ip, line.empty() ? "" : ", ", line));
}

void Prompt::show_place() {
  const auto ip = debugger_.ip();
  if (!ip) return;
  print("group {} thread {} at {}\n=> {:#x}: {}\n", group_text(debugger_.group_id()), debugger_.thread(),
        where(*ip), *ip, visible(rt::instruction_text(debugger_.code(), *ip)));
}

void Prompt::say(Stop stop) {
  switch (stop) {
    case Stop::Breakpoint: {
      const auto& all = debugger_.breakpoints();
      const auto ip = debugger_.ip();
      if (ip) print("breakpoint {}\n", std::distance(all.begin(), all.find(*ip)));
      break;
    }
    case Stop::Switched:
      print("another thread is next\n");
      break;
    case Stop::Interrupted:
      print("interrupted\n");
      break;
    case Stop::Ended: {
      const rt::WalkerCounts counts = debugger_.counts();
      print("the kernel has ended: {} groups, {} threads, {} guest instructions\n", counts.groups,
            counts.threads, counts.instructions);
      return;
    }
    case Stop::Faulted:
      print("fault: {}\n", visible(debugger_.fault()->message));
      break;
    case Stop::Stepped:
      break;
  }
  show_place();
}

Result<std::uint32_t> Prompt::resolve(const PlaceText& place) const {
  std::uint32_t ip = place.ip;
  if (place.line) {
    if (lines_.rows.empty())
      return error("the binary has no line table: compile with -options -g --format zebin");
    const auto found = lines_.find(place.name, *place.line);
    if (!found) return error("no instruction of {} comes from {}:{}", kernel_, place.name, *place.line);
    ip = *found;
  } else if (!place.name.empty() && place.name != kernel_) {
    return error("expected the kernel {}, found {}", kernel_, place.name);
  }
  if (debugger_.is_start(ip)) return ip;
  const auto& starts = debugger_.starts();
  const auto behind = std::upper_bound(starts.begin(), starts.end(), ip);
  return error("no instruction begins at {:#x}: the nearest before it at {:#x}, of {} bytes", ip,
               *(behind - 1), debugger_.code().bytes.size());
}

Result<void> Prompt::add_breakpoint(const PlaceText& place) {
  const auto ip = resolve(place);
  if (!ip) return ip.error();
  debugger_.breakpoints().insert(*ip);
  print("breakpoint at {}: {}\n", where(*ip), visible(rt::instruction_text(debugger_.code(), *ip)));
  return {};
}

Result<void> Prompt::take_breakpoint(const Command& command) {
  auto& all = debugger_.breakpoints();
  if (!command.count) {
    all.clear();
    return {};
  }
  if (*command.count >= all.size())
    return error("expected one of {} breakpoints, found {}", all.size(), *command.count);
  all.erase(std::next(all.begin(), static_cast<std::ptrdiff_t>(*command.count)));
  return {};
}

Result<void> Prompt::advance(const Command& command) {
  if (debugger_.over()) return error("the kernel is over");
  const std::uint32_t thread = debugger_.thread();
  const std::size_t depth = debugger_.frames(thread).size();
  if (command.verb == Verb::finish && depth == 0) return error("the thread is in no call");
  const auto frames = [&] { return debugger_.frames(thread).size(); };
  Result<Stop> stop = Stop::Stepped;
  if (command.verb == Verb::continue_) {
    stop = debugger_.run_all();
  } else if (command.verb == Verb::finish) {
    stop = debugger_.run([&] { return frames() < depth; });
  } else {
    const std::uint64_t count = command.count.value_or(1);
    for (std::uint64_t i = 0; i < count && stop && *stop == Stop::Stepped; ++i) {
      const auto from = debugger_.ip();
      if (!from) return from.error();
      if (command.verb == Verb::line) {
        const std::string line = line_text(*from);
        stop = debugger_.run([&] {
          const auto now = debugger_.ip();
          const rt::LineRow* row = now ? lines_.at(*now) : nullptr;
          return row != nullptr && row->statement && row->ip == *now && line_text(*now) != line;
        });
      } else {
        const bool over_call = command.verb == Verb::next && debugger_.is_call(*from);
        stop = debugger_.run([&] { return !over_call || frames() <= depth; });
      }
    }
  }
  if (!stop) {
    broken_ = true;
    return stop.error();
  }
  say(*stop);
  return {};
}

Result<void> Prompt::show_registers(const Command& command) {
  const auto image = debugger_.image();
  if (!image) return image.error();
  if (command.verb == Verb::registers) {
    put(state_text(*image, debugger_.code().family));
    return {};
  }
  const auto text = register_text(command.reg, command.count.value_or(1), *image, debugger_.code().family);
  if (!text) return text.error();
  put(*text);
  return {};
}

Result<void> Prompt::show_memory(const Command& command) {
  constexpr std::uint64_t usual = 8;
  const rt::WalkerCommand& walk = debugger_.walk();
  if (command.verb == Verb::surfaces) {
    put(surfaces_text(walk));
    return {};
  }
  MemoryView view{&walk, {}, {}};
  if (!debugger_.over()) {
    if (const auto image = debugger_.image(); !image) return image.error();  // brings the group up to date
    const rt::GroupImage& group = *debugger_.group_image();
    view.slm = group.slm;
    if (walk.scratch.bytes != 0)
      view.scratch = {
          walk.scratch.base + std::size_t{group.threads[debugger_.thread()].slot} * walk.scratch.bytes,
          walk.scratch.bytes};
  }
  const auto text = memory_text(command.memory, command.count.value_or(usual), view);
  if (!text) return text.error();
  put(*text);
  return {};
}

Result<void> Prompt::disassemble(std::uint64_t around) {
  const auto ip = debugger_.ip();
  if (!ip) return ip.error();
  const auto& starts = debugger_.starts();
  const auto here =
      static_cast<std::uint64_t>(std::lower_bound(starts.begin(), starts.end(), *ip) - starts.begin());
  const std::uint64_t begin = here - std::min(here, around);
  const std::uint64_t end =
      std::min<std::uint64_t>(starts.size(), here + std::min<std::uint64_t>(around, starts.size()) + 1);
  std::string before;
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint32_t at = starts[i];
    const std::string line = line_text(at);
    if (line != before && !line.empty()) print("{}\n", visible(line));
    before = line;
    print("{} {}{:#x}: {}\n", at == *ip ? "=>" : "  ", debugger_.breakpoints().count(at) != 0 ? "*" : " ", at,
          visible(rt::instruction_text(debugger_.code(), at)));
  }
  return {};
}

Result<void> Prompt::show_threads() {
  if (debugger_.over()) return error("the kernel is over");
  if (const auto image = debugger_.image(); !image) return image.error();
  const rt::GroupImage& group = *debugger_.group_image();
  print("group {} of {}\n", group_text(debugger_.group_id()), debugger_.walk().group_count());
  for (std::size_t t = 0; t < group.threads.size(); ++t) {
    const rt::GroupThreadImage& thread = group.threads[t];
    const bool under_way =
        thread.phase == rt::ThreadPhase::Running || thread.phase == rt::ThreadPhase::Waiting;
    print("{} {}: {}{}\n", t == debugger_.thread() ? "=>" : "  ", t, name(thread.phase),
          under_way ? " at " + where(thread.state.ip) : "");
  }
  return {};
}

Result<void> Prompt::backtrace() {
  const auto ip = debugger_.ip();
  if (!ip) return ip.error();
  print("0  {}\n", where(*ip));
  const auto& frames = debugger_.frames(debugger_.thread());
  std::size_t number = 1;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    print("{}  {} called it, returns to {:#x}\n", number++, where(frame->call), frame->back);
  return {};
}

Result<void> Prompt::execute(const Command& command) {
  switch (command.verb) {
    case Verb::step:
    case Verb::next:
    case Verb::line:
    case Verb::finish:
    case Verb::continue_:
      return advance(command);
    case Verb::break_:
      return add_breakpoint(command.place);
    case Verb::delete_:
      return take_breakpoint(command);
    case Verb::breakpoints: {
      std::size_t number = 0;
      for (const std::uint32_t ip : debugger_.breakpoints())
        print("{}: {}: {}\n", number++, where(ip), visible(rt::instruction_text(debugger_.code(), ip)));
      return {};
    }
    case Verb::print:
    case Verb::registers:
      return show_registers(command);
    case Verb::memory:
    case Verb::surfaces:
      return show_memory(command);
    case Verb::disassemble:
      return disassemble(command.count.value_or(4));
    case Verb::backtrace:
      return backtrace();
    case Verb::threads:
      return show_threads();
    case Verb::thread:
      if (!command.count) return error("thread: expected a number");
      if (auto chosen = debugger_.choose(*command.count); !chosen) return chosen;
      show_place();
      return {};
    case Verb::where:
      if (const auto ip = debugger_.ip(); !ip) return ip.error();
      show_place();
      return {};
    case Verb::help:
      put(help_text());
      return {};
    case Verb::quit:
      quit_ = true;
      return {};
  }
  return {};
}

Result<void> Prompt::talk(std::istream& from, bool interactive) {
  constexpr std::string_view blanks = " \t\r";
  while (!quit_) {
    if (interactive) put("(eumulate) ");
    if (finish_output(0) != 0) return {};  // the output is closed
    std::string line;
    if (!std::getline(from, line)) return {};
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string::npos || line[begin] == '#') continue;
    const auto command = parse_command(line);
    const Result<void> done = command ? execute(*command) : Result<void>(command.error());
    if (!done && broken_) return done;
    if (!done) print("error: {}\n", visible(done.error().message));
  }
  return {};
}

}  // namespace eum::cli::debug
