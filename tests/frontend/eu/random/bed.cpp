#include "tests/frontend/eu/random/bed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "tests/jit/world.hpp"
#include "tests/optimisations.hpp"

namespace eum::test {
namespace {

using jit::test::FinalState;
using jit::test::World;

struct Settings {
  bool steps, exact, at_end;
  eu::LowerOptions lowering;
  jit::CompileOptions compiling;
};

Settings settings_of(const Program& program, const Run& how) {
  Settings s{};
  s.steps = how.seed % 4 == 0;
  s.exact = how.seed % 5 != 1;
  s.at_end = how.seed % 3 != 0;
  if (s.steps) {
    s.exact = true;
    s.lowering.granularity = eu::Granularity::Instruction;
    s.compiling.safepoints = jit::Safepoints::Instructions;
  } else if (how.seed % 4 == 1) {
    s.lowering.granularity = eu::Granularity::Message;
    s.compiling.safepoints = jit::Safepoints::Messages;
  }
  if (how.modes) s.lowering.modes = 7;
  if (how.seed % 16 == 3 && !program.elements.empty())
    s.lowering.system_routine = static_cast<std::uint32_t>(16 * (how.seed / 16 % program.elements.size()));
  s.compiling.exact_registers = s.exact;
  // For one seed in six, one optimisation or all are disabled.
  static const std::vector<Reduced> reduced = every_reduced();
  static const Reduced usual = reduced_by_environment();
  s.compiling.optimisations =
      how.seed % 6 == 5 ? reduced[in_turn(how.seed, reduced.size())].left : usual.left;
  return s;
}

/// The state that a dispatched thread may find: addresses within the general registers, modes as the engine
/// has them.
void start(World& world, const ir::Function& function, const Program& program, const Run& how) {
  world.reset(function, how.seed);
  const eu::Target target = gen::target(program.family);
  Choice choice(how.seed ^ 0x5eed);
  std::byte* file = world.file();
  const auto put = [&](unsigned at, const auto& value) { std::memcpy(file + at, &value, sizeof value); };
  for (unsigned n = 0; n < 16; ++n)
    put(target.offset(eu::StateRegister::Address) + 2 * n,
        static_cast<std::uint16_t>(512 + 8 * choice.below(320)));
  std::uint32_t& modes = world.state().fp_mode;
  if (how.modes) modes |= choice.below(8);
  const std::uint32_t exceptions = choice.one_in(4) ? (choice.bits() & 0xf000) : 0;
  const unsigned control = target.offset(eu::StateRegister::Control);
  put(control, modes);
  put(control + 4, exceptions);
  put(control + 8, std::uint32_t{0});
  // The accumulator is no wider than its low plane: the high plane is a sign extension.
  for (unsigned at = 0; at < target.bytes(eu::StateRegister::AccumulatorHigh); at += 4)
    put(target.offset(eu::StateRegister::AccumulatorHigh) + at, choice.one_in(2) ? 0 : -1);
  for (std::uint32_t n = 0; n < 8; ++n)
    put(target.offset(eu::StateRegister::Notification) + 4 * n, n == 0 ? 0u : 1000 * choice.below(4));
  const std::uint32_t lanes = ir::lane_mask(program.simd);
  const std::uint32_t dispatched =
      choice.one_in(2) ? lanes : static_cast<std::uint32_t>(choice.bits()) & lanes;
  for (unsigned n = 1; n < function.mask_variables; ++n) world.masks()[n] = 0;
  world.masks()[0] = dispatched == 0 ? 1 : dispatched;
}

std::string describe(const jit::Fault& fault, const ir::Function& function) {
  if (!jit::has_text(fault.kind))
    return fmt::format("fault {} at {:#x}: address {:#x}", static_cast<unsigned>(fault.kind), fault.guest_ip,
                       fault.address);
  if (fault.address >= function.strings.size() || function.strings[fault.address].empty()) return "";
  return fmt::format("{:#x}: {}", fault.guest_ip, function.strings[fault.address]);
}

/// What a faulted instruction has changed nevertheless, except for the clock and the registers in which
/// instructions record their jump targets.
std::string undone(jit::ThreadImage before, const jit::ThreadImage& after, const ir::Function& function,
                   gen::Family family) {
  const eu::Target target = gen::target(family);
  // Channels parked here reconverge before the instruction.
  for (std::size_t k = 0; k < before.parked.size(); ++k)
    if (function.park_ips[k] == before.ip)
      before.execution_mask |= std::exchange(before.parked[k], after.parked[k]);
  const auto counts = [&](unsigned at) {
    for (const eu::StateRegister reg : {eu::StateRegister::Timestamp, eu::StateRegister::Jump})
      if (at >= target.offset(reg) && at < target.offset(reg) + target.bytes(reg)) return false;
    return true;
  };
  for (unsigned at = 0; at < before.registers.size(); ++at)
    if (before.registers[at] != after.registers[at] && counts(at))
      return fmt::format("the fault at {:#x} has changed byte {:#x} of the registers", after.ip, at);
  if (before.flags != after.flags) return fmt::format("the fault at {:#x} has changed flags", after.ip);
  if (before.execution_mask != after.execution_mask || before.parked != after.parked)
    return fmt::format("the fault at {:#x} has changed masks", after.ip);
  return {};
}

struct Engines {
  std::vector<std::unique_ptr<jit::Engine>> list;
  std::vector<std::unique_ptr<World>> worlds[2];  ///< [1]: memory ends at a guard page
};

/// All engines, the reference engine first.
Engines& engines() {
  static Engines all = [] {
    Engines made;
    made.list.push_back(jit::make_reference_engine());
    for (const jit::EngineInfo& row : jit::engines())
      if (row.kind != jit::EngineKind::reference)
        if (auto engine = row.make()) made.list.push_back(std::move(*engine));
    for (const bool at_end : {false, true})
      for (std::size_t n = 0; n < made.list.size(); ++n)
        made.worlds[at_end].push_back(std::make_unique<World>(at_end));
    return made;
  }();
  return all;
}

/// How the result differs from that of a translation in which each instruction begins a block.
std::string difference_step_by_step(const Program& program, const Run& how, Settings settings,
                                    const FinalState& whole, std::int64_t granted) {
  settings.lowering.granularity = eu::Granularity::Instruction;
  const std::vector<std::byte> code = program.code();
  Result<ir::Function> function = gen::lower_kernel(code, program.family, program.simd, "random",
                                                    std::pmr::get_default_resource(), settings.lowering);
  if (!function) return function.error().message;
  auto executable = engines().list[0]->compile(*function, settings.compiling);
  if (!executable) return executable.error().message;
  World& world = *engines().worlds[settings.at_end][0];
  start(world, *function, program, how);
  world.state().budget = granted;
  std::string problem = jit::test::difference(whole, world.run(**executable), true);
  if (!problem.empty()) problem = "instruction by instruction: " + problem;
  return problem;
}

}  // namespace

Outcome run(const Program& program, const Run& how) {
  const Settings settings = settings_of(program, how);
  Engines& all = engines();
  const std::vector<std::byte> code = program.code();
  Outcome outcome;
  Result<ir::Function> function = gen::lower_kernel(code, program.family, program.simd, "random",
                                                    std::pmr::get_default_resource(), settings.lowering);
  if (!function) {
    outcome.fault = function.error().message;
    return outcome;
  }
  if (Result<void> good = ir::verify(*function); !good) {
    outcome.difference = "lowering: " + good.error().message;
    return outcome;
  }
  std::vector<std::unique_ptr<jit::Executable>> executables;
  for (const auto& engine : all.list) {
    ir::Function own = jit::test::copy(*function);
    auto compiled = engine->compile(own, settings.compiling);
    if (!compiled) {
      outcome.difference = fmt::format("{}: {}", engine->name(), compiled.error().message);
      return outcome;
    }
    executables.push_back(std::move(*compiled));
  }
  auto& worlds = all.worlds[settings.at_end];
  for (auto& world : worlds) start(*world, *function, program, how);
  std::int64_t left = how.budget;
  const bool one_by_one = settings.steps && how.seed % 8 == 0;
  jit::ThreadImage before;
  for (unsigned stop = 0; left > 0 && stop < (one_by_one ? 400 : 64); ++stop) {
    const std::int64_t granted =
        one_by_one ? 1 : std::min<std::int64_t>(left, how.seed % 7 == 0 ? left / 2 + 1 : left);
    if (one_by_one) before = executables[0]->save(worlds[0]->state(), jit::Status::Paused);
    std::vector<FinalState> states;
    for (std::size_t n = 0; n < executables.size(); ++n) {
      worlds[n]->state().budget = granted;
      states.push_back(worlds[n]->run(*executables[n]));
      if (n == 0) continue;
      const std::string problem = jit::test::difference(states[0], states[n], settings.exact);
      if (problem.empty()) continue;
      outcome.difference = fmt::format("{}, stop {} (status {}): {}", all.list[n]->name(), stop,
                                       static_cast<unsigned>(states[0].status), problem);
      return outcome;
    }
    const FinalState& state = states[0];
    const std::int64_t used = granted - state.state.budget;
    outcome.instructions += static_cast<std::uint64_t>(std::max<std::int64_t>(used, 0));
    left -= std::max<std::int64_t>(used, 1);
    if (state.status == jit::Status::Exited) {
      if (stop == 0 && settings.exact && how.seed % 4 == 2 && state.state.budget > 0)
        outcome.difference = difference_step_by_step(program, how, settings, state, granted);
      return outcome;
    }
    if (state.status != jit::Status::Faulted) continue;
    outcome.fault = describe(state.state.fault, *function);
    if (outcome.fault.empty()) outcome.difference = "a fault without a text";
    if (one_by_one && before.ip == state.image.ip) {
      outcome.difference = undone(before, state.image, *function, program.family);
      if (!outcome.difference.empty()) return outcome;
    }
    if (!settings.steps) return outcome;
    // Continue behind the instruction that faulted.
    for (std::size_t n = 0; n < executables.size(); ++n) {
      jit::ThreadImage image = states[n].image;
      const std::size_t ip = image.ip;
      if (ip % 8 != 0 || ip + 8 > code.size()) return outcome;
      image.ip += static_cast<std::uint32_t>(gen::length_at(code, ip, program.family));
      if (!executables[n]->restore(image, worlds[n]->state())) return outcome;
    }
  }
  return outcome;
}

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  const auto smaller = [&](std::size_t first, std::size_t count) {
    Program fewer = program.without(first, count);
    if (fewer.code() == program.code() || !fails(fewer)) return false;
    program = std::move(fewer);
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t count = program.elements.size() / 2; count > 0; count /= 2)
      for (std::size_t end = program.elements.size(); end >= count && end > 0; end -= std::min(end, count)) {
        end = std::min(end, program.elements.size());
        if (end >= count && program.elements.size() > 1) progress |= smaller(end - count, count);
      }
  }
  return program;
}

}  // namespace eum::test
