// ALU instructions of Gen7, Gen7.5 and Gen9 in every combination of types, against the model of model/: after
// each instruction every register, accumulator and flag has the model's value, on each engine; and run as a
// whole, a program ends in the same state as step by step. EUMULATE_PROGRAMS multiplies the number of
// programs; EUMULATE_SEED repeats a run.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/engine.hpp"
#include "tests/frontend/eu/model/execution.hpp"
#include "tests/frontend/eu/model/programs.hpp"
#include "tests/frontend/eu/model/thread.hpp"

namespace eum::test {
namespace {

using model::assemble;
using model::compile;
using model::Machine;
using model::Program;
using model::Thread;

constexpr unsigned program_length = 48;
constexpr std::uint32_t keep_denormals = 0x4c0, keep_half_denormals = 0x400;  // cr0.0

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// Sets the host's rounding mode to that of cr0.0.
class Rounding {
 public:
  explicit Rounding(std::uint32_t cr0) : before_(std::fegetround()) {
    static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(modes[cr0 >> 4 & 3]);
  }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

/// Collects differences by kind and keeps the texts of the first three of each.
class Report {
 public:
  void add(const std::string& kind, const std::string& text) {
    ++count_;
    std::vector<std::string>& kept = kinds_[kind];
    if (kept.size() < 3) kept.push_back(text);
  }
  std::size_t count() const { return count_; }
  std::string text() const {
    std::string out;
    for (const auto& [kind, texts] : kinds_)
      for (const std::string& text : texts) out += kind + ": " + text + "\n";
    return out;
  }

 private:
  std::map<std::string, std::vector<std::string>> kinds_;
  std::size_t count_ = 0;
};

/// Where the manual leaves the result open, accepts the engine's value if it is of the permitted kind.
void settle(const model::Outcome& outcome, const Machine& found, Machine& expected) {
  expected.flags = (expected.flags & ~outcome.open_flags) | (found.flags & outcome.open_flags);
  for (const model::OpenElement& e : outcome.open) {
    const unsigned bytes = gen::size_of(e.type);
    const std::uint8_t* from = (e.in_accumulator ? found.acc.data() : found.grf.data()) + e.offset;
    std::uint8_t* to = (e.in_accumulator ? expected.acc.data() : expected.grf.data()) + e.offset;
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, bytes);
    const double value = model::decode(bits, e.type).real;
    bool fine = false;
    switch (e.open) {
      case model::Open::AnyNan:
        fine = value != value;
        break;
      case model::Open::Flushed:
        fine = value == 0 && std::signbit(value) == std::signbit(e.value);
        break;
      case model::Open::Anything:
        fine = true;
        break;
      case model::Open::Approximate: {
        const double error = e.type == gen::Type::hf ? 0x1p-9 : 0x1p-20;
        fine =
            std::fabs(value - e.value) <= std::max(std::fabs(e.value) * error, 0x1p-20) || value == e.value;
        if (std::isinf(e.value))  // rounding to zero may turn it into the largest number
          fine = std::signbit(value) == std::signbit(e.value) && std::fabs(value) >= 65504;
        else if (std::fabs(e.value) > 0x1p120 || std::fabs(e.value) < 0x1p-110)
          fine = true;
        break;
      }
    }
    if (fine) std::memcpy(to, from, bytes);
  }
}

std::string hex(const std::uint8_t* bytes, unsigned count) {
  std::string out;
  for (unsigned i = count; i-- > 0;) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

std::string difference(const Machine& before, const Machine& wanted, const Machine& found) {
  std::string out;
  const auto bytes = [&](const char* name, const auto& w, const auto& f, const auto& b) {
    for (std::size_t at = 0; at + 8 <= sizeof(w) && out.size() < 600; at += 8) {
      const auto* pw = reinterpret_cast<const std::uint8_t*>(&w) + at;
      const auto* pf = reinterpret_cast<const std::uint8_t*>(&f) + at;
      if (std::memcmp(pw, pf, 8) == 0) continue;
      out += fmt::format("\n    {}{}.{}: expected {} found {} before {}", name, at / 32, at % 32, hex(pw, 8),
                         hex(pf, 8), hex(reinterpret_cast<const std::uint8_t*>(&b) + at, 8));
    }
  };
  bytes("r", wanted.grf, found.grf, before.grf);
  bytes("acc", wanted.acc, found.acc, before.acc);
  bytes("acch", wanted.acc_high, found.acc_high, before.acc_high);
  bytes("a", wanted.address, found.address, before.address);
  if (wanted.flags != found.flags)
    out += fmt::format("\n    flags: expected {:016x} found {:016x} before {:016x}", wanted.flags,
                       found.flags, before.flags);
  return out;
}

std::string sources(const gen::Instruction& inst, const Machine& before) {
  Machine copy = before;
  model::Outcome outcome;
  const model::Execution x(inst, copy, outcome);
  std::string out;
  for (unsigned i = 0; i < inst.source_count; ++i) {
    out += fmt::format("\n    src{}:", i);
    for (unsigned n = 0; n < std::min(8u, x.lanes()); ++n) out += fmt::format(" {:x}", x.bits(i, n));
  }
  return out + fmt::format("\n    mask {:08x}", before.execution_mask);
}

bool same(const Machine& a, const Machine& b) {
  return a.grf == b.grf && a.acc == b.acc && a.acc_high == b.acc_high && a.address == b.address &&
         a.flags == b.flags;
}

/// Runs the program instruction by instruction alongside the model; returns the final state if no instruction
/// faulted.
std::optional<Machine> run_steps(jit::Engine& engine, const Program& program, const Machine& start,
                                 std::uint32_t fp_mode, Report& report) {
  std::vector<std::string> texts;
  const std::unique_ptr<jit::Executable> executable = compile(engine, program, true, &texts);
  Thread thread(*executable, start, fp_mode);
  Machine expected = start;
  bool whole = true;
  for (const gen::Instruction& inst : program.instructions) {
    const Machine before = expected;
    const model::Outcome outcome = [&] {
      const Rounding rounding(fp_mode);
      return model::execute(inst, expected);
    }();
    const jit::Status status = thread.run(1);
    const std::string text = gen::print(inst, program.family);
    const Machine found = thread.machine(before);
    if (status == jit::Status::Faulted) {
      whole = false;
      const jit::Fault& fault = thread.state().fault;
      const bool told = fault.kind == jit::FaultKind::Unsupported && fault.address < texts.size();
      report.add(fmt::format("{} {} fault", engine.name(), gen::info(inst.opcode).name),
                 told ? texts[fault.address]
                      : fmt::format("{}: fault {} at {:#x}", text, static_cast<unsigned>(fault.kind),
                                    fault.address));
      thread.skip(status);
      expected = found;
      continue;
    }
    settle(outcome, found, expected);
    if (!same(expected, found))
      report.add(fmt::format("{} {}", engine.name(), gen::info(inst.opcode).name),
                 text + sources(inst, before) + difference(before, expected, found));
    expected = found;
  }
  if (!whole) return std::nullopt;
  return expected;
}

/// The final state of the program run as a whole, or nothing if it does not end.
std::optional<Machine> run_whole(jit::Engine& engine, const Program& program, const Machine& start,
                                 std::uint32_t fp_mode) {
  const std::unique_ptr<jit::Executable> executable = compile(engine, program, false);
  Thread thread(*executable, start, fp_mode);
  if (thread.run(1'000'000) != jit::Status::Exited) return std::nullopt;
  return thread.machine(start);
}

/// How the program run as a whole differs from its steps, or from the same on another engine.
std::string whole_difference(jit::Engine& engine, jit::Engine& other, const Program& program,
                             const Machine& start, std::uint32_t fp_mode) {
  Report ignored;
  const std::optional<Machine> stepped = run_steps(engine, program, start, fp_mode, ignored);
  if (!stepped) return {};
  const std::optional<Machine> end = run_whole(engine, program, start, fp_mode);
  if (!end) return "it does not end";
  if (!same(*stepped, *end)) return "as a whole, unlike step by step" + difference(start, *stepped, *end);
  const std::optional<Machine> elsewhere = run_whole(other, program, start, fp_mode);
  if (!elsewhere || same(*elsewhere, *end)) return {};
  return "unlike another engine" + difference(start, *elsewhere, *end);
}

/// The program without the instructions that the difference does not need.
Program shrink(jit::Engine& engine, jit::Engine& other, std::vector<gen::Instruction> instructions,
               const Machine& start, std::uint32_t fp_mode) {
  for (std::size_t n = instructions.size(); n-- > 0;) {
    std::vector<gen::Instruction> fewer = instructions;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(n));
    if (!fewer.empty() &&
        !whole_difference(engine, other, assemble(fewer, start.family), start, fp_mode).empty())
      instructions = std::move(fewer);
  }
  return assemble(instructions, start.family);
}

void run(const std::vector<gen::Instruction>& instructions, const Machine& start, std::uint32_t fp_mode,
         std::span<const std::unique_ptr<jit::Engine>> engines, Report& report) {
  const Program program = assemble(instructions, start.family);
  for (const std::unique_ptr<jit::Engine>& engine : engines) {
    run_steps(*engine, program, start, fp_mode, report);
    if (whole_difference(*engine, *engines.front(), program, start, fp_mode).empty()) continue;
    const Program least = shrink(*engine, *engines.front(), instructions, start, fp_mode);
    report.add(fmt::format("{} whole", engine->name()),
               whole_difference(*engine, *engines.front(), least, start, fp_mode) + "\n" +
                   gen::disassemble(least.code, least.family));
  }
}

/// Whether the opcode computes, so that the model must cover it.
bool computes(gen::Opcode opcode, gen::Family family) {
  const gen::Format format = gen::shape(opcode, family).format;
  return format == gen::Format::Unary || format == gen::Format::DoubleImm || format == gen::Format::Binary ||
         format == gen::Format::Ternary || format == gen::Format::Math;
}

void run_all(gen::Family family, std::uint32_t fp_mode, bool keep, unsigned rounds) {
  const std::uint64_t seed = environment("EUMULATE_SEED", 20240607);
  const std::uint64_t times = environment("EUMULATE_PROGRAMS", 1) * rounds;
  const char* only = std::getenv("EUMULATE_OPCODE");
  const auto engines = model::all_engines();
  model::Source source(seed + fp_mode, family);
  Report report;
  std::size_t total = 0, programs = 0;
  std::vector<gen::Instruction> pending;
  const auto flush = [&] {
    if (programs++ % EUMULATE_STEP != 0) pending.clear();
    if (pending.empty()) return;
    Machine start = source.machine();
    start.mode = {keep, keep, true};
    run(pending, start, fp_mode, engines, report);
    pending.clear();
  };
  for (std::uint64_t round = 0; round < times; ++round)
    for (std::size_t n = 0; n < gen::opcode_count; ++n) {
      const auto opcode = static_cast<gen::Opcode>(n);
      if (!gen::exists_on(opcode, family) || !model::has_model(opcode)) continue;
      if (only != nullptr && gen::info(opcode).name != only) continue;
      const std::vector<model::Combination> all = model::combinations(opcode, family);
      // Opcodes with few type combinations get more variants of the rest.
      const std::size_t variants = std::max<std::size_t>(1, 96 / all.size());
      for (const model::Combination& types : all)
        for (std::size_t k = 0; k < variants; ++k) {
          pending.push_back(source.instruction(types));
          ++total;
          if (pending.size() == program_length) flush();
        }
    }
  flush();
  INFO(gen::info(family).name << ", seed " << seed << ", " << total << " instructions");
  if (report.count() != 0) fmt::print(stderr, "{}", report.text());  // whole lines, which Catch would wrap
  CHECK(report.count() == 0);
}

}  // namespace

TEST_CASE("the model has every instruction that computes") {
  for (const gen::Family family : {gen::Family::Gen7, gen::Family::Gen7_5, gen::Family::Gen9})
    for (std::size_t n = 0; n < gen::opcode_count; ++n) {
      const auto opcode = static_cast<gen::Opcode>(n);
      if (!gen::exists_on(opcode, family)) continue;
      INFO(gen::info(family).name << " " << gen::info(opcode).name);
      CHECK(model::has_model(opcode) == computes(opcode, family));
      if (computes(opcode, family)) CHECK_FALSE(model::combinations(opcode, family).empty());
    }
}

TEST_CASE("instructions do what the model does, denormals kept") {
  run_all(gen::Family::Gen9, keep_denormals, true, 1);
}
TEST_CASE("instructions do what the model does, denormals flushed") {
  run_all(gen::Family::Gen9, keep_half_denormals, false, 1);
}

TEST_CASE("instructions do what the model does, rounding up, down and to zero") {
  for (const std::uint32_t rounding : {1u, 2u, 3u})
    run_all(gen::Family::Gen9, keep_denormals | rounding << 4, true, 1);
}

TEST_CASE("instructions of Gen7 and Gen7.5 do what the model does") {
  for (const gen::Family family : {gen::Family::Gen7, gen::Family::Gen7_5}) {
    run_all(family, keep_denormals, true, 1);
    run_all(family, keep_half_denormals, false, 1);
    run_all(family, keep_denormals | 2 << 4, true, 1);  // rounding down
  }
}

}  // namespace eum::test
