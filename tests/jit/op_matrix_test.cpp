// Every lanewise row of ops.def x type x lanes x mask x FP mode over edge and random values: the reference
// engine against the lane function, every other engine against the reference engine.
#include <fmt/format.h>
#include <xmmintrin.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/semantics/lane_function.hpp"
#include "frontend/ir/signature.hpp"
#include "jit/fpmode.hpp"
#include "jit/passes/expand_math.hpp"
#include "tests/jit/world.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr unsigned operand_bytes =
    256;  // 32 lanes of 8 bytes; operands are this far apart in the register file
constexpr unsigned first_operand = 0, first_result = 4 * operand_bytes;
constexpr unsigned file_bytes = first_result + 2 * operand_bytes;

/// One op at one type and lane count: reads operands from registers (masks from flag 0 up), writes results
/// under mask variable 0.
struct Case {
  Op op;
  Type type, from;
  unsigned lanes;
  std::vector<Type> operands{};  ///< types of the operands
  Type result = Type::m;
  unsigned results = 0;
  Function function{};

  void build() {
    function.name = "op";
    function.family = "gen9";
    function.simd = std::max(std::bit_ceil(lanes), 8u);
    function.file_bytes = file_bytes;
    function.blocks[function.add_block()].guest_instructions = 1;
    Builder b(function);
    Inst inst = Builder::make(op, type, lanes);
    inst.from = from;
    const Signature wanted(function, inst);
    result = wanted.result(0).type;
    results = wanted.max_results();
    const ValueId mask = b.slice(b.mask_get(0), 0, lanes);
    std::vector<ValueId> args;
    unsigned flag = 0;
    for (unsigned k = 0; k < wanted.operands(); ++k) {
      operands.push_back(wanted.operand(k).type);
      if (is_mask(operands.back())) {
        args.push_back(b.flag_read(lanes, flag));
        flag += lanes;
      } else {
        args.push_back(b.reg_read(operands.back(), lanes, Region::packed(first_operand + k * operand_bytes)));
      }
    }
    const ValueId first = b.append(inst, args);
    for (unsigned k = 0; k < results; ++k) {
      if (is_mask(result))
        b.flag_write(0, first + k, mask);
      else
        b.reg_write(Region::packed(first_result + k * operand_bytes), first + k, mask);
    }
    b.exit();
  }

  std::string name() const {
    return fmt::format("{}.{}.{}x{}", op_name(op), info(type).name, info(from).name, lanes);
  }
};

/// Registers and flags after the op, computed by the lane function in the state's FP mode.
void expect(const Case& c, World& world, std::vector<std::byte>& file, std::uint64_t& flags) {
  file.assign(world.file(), world.file() + file_bytes);
  flags = world.flags();
  std::array<const void*, max_pure_operands> args{};
  std::array<std::uint32_t, 2> masks{};
  unsigned used = 0;
  for (unsigned k = 0; k < c.operands.size(); ++k) {
    if (is_mask(c.operands[k])) {
      masks[used] = static_cast<std::uint32_t>(lane_bits(Type::m, c.lanes, flags >> (used * c.lanes)));
      args[k] = &masks[used++];
    } else {
      args[k] = file.data() + first_operand + k * operand_bytes;
    }
  }
  Inst inst = Builder::make(c.op, c.type, c.lanes);
  inst.from = c.from;
  const std::uint32_t mode = world.state().fp_mode;
  const bool flushes = computes_on_floats(inst) && !is_keeping(mode, cr0_bit::Keep16);
  std::array<std::array<std::byte, 2 * max_lanes>, max_pure_operands> halves;
  for (unsigned k = 0; flushes && k < c.operands.size(); ++k) {
    if (c.operands[k] != Type::f16) continue;
    std::memcpy(halves[k].data(), args[k], 2 * c.lanes);
    flush_f16(halves[k].data(), c.lanes);
    args[k] = halves[k].data();
  }
  std::array<std::byte, 2 * operand_bytes> results;
  const unsigned host = _mm_getcsr();
  _mm_setcsr(fp_mode_mxcsr(mode, fp_class_of(inst)));
  lane_function(c.op, c.type, c.from)(results.data(), args.data(), c.lanes);
  _mm_setcsr(host);
  if (flushes && c.result == Type::f16) flush_f16(results.data(), c.lanes);
  const auto under = static_cast<std::uint32_t>(lane_bits(Type::m, c.lanes, world.masks()[0]));
  if (is_mask(c.result)) {
    std::uint32_t bits;
    std::memcpy(&bits, results.data(), 4);
    flags = (flags & ~std::uint64_t{under}) | (bits & under);
    return;
  }
  const unsigned bytes = size_of(c.result);
  for (unsigned k = 0; k < c.results; ++k)
    for (unsigned lane = 0; lane < c.lanes; ++lane)
      if ((under >> lane & 1) != 0)
        std::memcpy(file.data() + first_result + k * operand_bytes + lane * bytes,
                    results.data() + (k * c.lanes + lane) * bytes, bytes);
}

void run_case(Case& c, World& world, std::uint64_t seed, unsigned rounds) {
  rounds = 1 + (rounds - 1) / EUMULATE_STEP;
  c.build();
  struct Runner {
    std::string name;
    std::unique_ptr<Executable> executable;
  };
  const auto compile = [&](Engine& engine, const Function& function) {
    Function own = copy(function);
    auto executable = engine.compile(own, {});
    if (!executable) FAIL(c.name() << ": " << engine.name() << ": " << executable.error().message);
    return std::move(*executable);
  };
  const auto reference = compile(*make_reference_engine(), c.function);
  std::vector<Runner> others;
  for (const auto& engine : other_engines())
    others.push_back({std::string(engine->name()), compile(*engine, c.function)});
  if (const auto& reduced = reduced_engines(); !reduced.empty()) {
    Engine& engine = *reduced[eum::test::in_turn(seed, reduced.size())];
    others.push_back({std::string(engine.name()), compile(engine, c.function)});
  }
  if (info(c.op).backend == Backend::Expand) {
    Function expanded = copy(c.function);
    expand_math(expanded);
    others.push_back({"reference after expand_math", compile(*make_reference_engine(), expanded)});
  }
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint64_t state_seed = seed + round;
    const auto restart = [&] {
      world.reset(c.function, state_seed);
      if (round == 0) world.masks()[0] = static_cast<std::uint32_t>(lane_bits(Type::m, c.function.simd, ~0u));
    };
    restart();
    std::vector<std::byte> file;
    std::uint64_t flags = 0;
    expect(c, world, file, flags);
    const FinalState got = world.run(*reference);
    const auto context = [&] {
      return fmt::format("{} state seed {} mask {:#x} fp_mode {:#x}\n{}", c.name(), state_seed,
                         got.image.execution_mask, got.state.fp_mode, print(c.function));
    };
    const bool same_flags = std::memcmp(got.image.flags.data(), &flags, sizeof flags) == 0;
    if (got.status != Status::Exited || !same_flags || got.image.registers != file)
      FAIL("the reference engine differs from the lane function: " << context());
    for (const Runner& other : others) {
      restart();
      const FinalState theirs = world.run(*other.executable);
      const std::string problem = difference(got, theirs);
      if (!problem.empty()) {
        FAIL_CHECK("reference and " << other.name << " differ in " << problem << "\n" << context());
        return;
      }
    }
  }
}

}  // namespace

TEST_CASE("op matrix: every lanewise row, type, lane count, mask and mode") {
  constexpr std::uint64_t seed = 20240601;
  World world;
  std::size_t cases = 0;
  constexpr std::size_t case_step = EUMULATE_STEP == 1 ? 1 : 4;  // each op and type has nine cases
  for (std::size_t o = 0; o < op_count; ++o) {
    const Op op = static_cast<Op>(o);
    if (!is_lanewise(op)) continue;
    for (std::size_t t = 0; t < type_count; ++t)
      for (std::size_t f = 0; f < type_count; ++f) {
        const Type type = static_cast<Type>(t), from = static_cast<Type>(f);
        if (info(op).shape != Shape::Convert && from != Type::u32) continue;
        if (lane_function(op, type, from) == nullptr) continue;
        for (unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u}) {
          Case c{op, type, from, lanes};
          if (++cases % case_step == 0) run_case(c, world, seed + 1000 * cases, lanes >= 8 ? 20 : 40);
        }
        // Any number of lanes is legal; each row tries three that are usually no power of two.
        for (std::size_t lanes : {3 + cases % 5, 9 + cases % 7, 17 + cases % 15}) {
          Case c{op, type, from, static_cast<unsigned>(lanes)};
          if (++cases % case_step == 0) run_case(c, world, seed + 1000 * cases, 4);
        }
      }
  }
  std::printf("op matrix: %zu cases, seed %llu\n", cases, static_cast<unsigned long long>(seed));
  CHECK(cases > 3000);
}
