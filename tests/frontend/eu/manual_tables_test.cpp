// The tables of the manual (IVB volume 4 part 3: 2.3.1.3 comparison of floats, 2.3.1.1 comparison for minimum
// and maximum, 2.4.1 float to integer), cell by cell, on every engine.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/frontend/eu/model/thread.hpp"

namespace eum::test {
namespace {

using gen::CondMod;
using gen::Type;

constexpr unsigned classes = 9;
/// -inf, -Fin, -denorm, -0, +0, +denorm, +Fin, +inf, NaN; one finite number each, so that the T/F of a
/// comparison of a number with itself is known.
std::array<double, classes> class_values(Type type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double denormal = type == Type::f ? 0x1p-140 : 0x1p-1060;
  return {-infinity, -2.5, -denormal, -0.0, 0.0, denormal, 3.5, infinity, std::nan("")};
}

/// T, F, T/F as c (compare the values), T/F* as * (compare the values where denormals are kept, otherwise
/// with denormals as zeros). A row for each src0. The manual prints +Fin > +inf and +inf > +inf as true,
/// against its own rule that infinities compare exactly (2.3.1.1); these two are F here.
struct Table {
  CondMod condition;
  std::array<const char*, classes> rows;
};
constexpr Table tables[] = {
    {CondMod::gt,
     {"FFFFFFFFF", "TcFFFFFFF", "TT*FFFFFF", "TT*FFFFFF", "TT*FFFFFF", "TT****FFF", "TTTTTTcFF", "TTTTTTTFF",
      "FFFFFFFFF"}},
    {CondMod::lt,
     {"FTTTTTTTF", "FcTTTTTTF", "FF****TTF", "FFFFF*TTF", "FFFFF*TTF", "FFFFF*TTF", "FFFFFFcTF", "FFFFFFFFF",
      "FFFFFFFFF"}},
    {CondMod::eq,
     {"TFFFFFFFF", "FcFFFFFFF", "FF****FFF", "FF*TT*FFF", "FF*TT*FFF", "FF****FFF", "FFFFFFcFF", "FFFFFFFTF",
      "FFFFFFFFF"}},
    {CondMod::ne,
     {"FTTTTTTTT", "TcTTTTTTT", "TT****TTT", "TT*FF*TTT", "TT*FF*TTT", "TT****TTT", "TTTTTTcTT", "TTTTTTTFT",
      "TTTTTTTTT"}},
    {CondMod::le,
     {"TTTTTTTTF", "FcTTTTTTF", "FF****TTF", "FF*TT*TTF", "FF*TT*TTF", "FF****TTF", "FFFFFFcTF", "FFFFFFFTF",
      "FFFFFFFFF"}},
    {CondMod::ge,
     {"TFFFFFFFF", "TcFFFFFFF", "TT****FFF", "TT*TT*FFF", "TT*TT*FFF", "TT****FFF", "TTTTTTcFF", "TTTTTTTTF",
      "FFFFFFFFF"}},
};

bool by_value(CondMod condition, double a, double b) {
  switch (condition) {
    case CondMod::gt:
      return a > b;
    case CondMod::lt:
      return a < b;
    case CondMod::eq:
      return a == b;
    case CondMod::ne:
      return a != b;
    case CondMod::le:
      return a <= b;
    default:
      return a >= b;
  }
}

gen::Operand grf(unsigned reg, unsigned subreg, Type type, gen::Region region) {
  gen::Operand op;
  op.kind = gen::OperandKind::Direct;
  op.type = type;
  op.reg = static_cast<std::uint8_t>(reg);
  op.subreg = static_cast<std::uint8_t>(subreg);
  op.region = region;
  return op;
}

gen::Instruction binary(gen::Opcode opcode, unsigned lanes, gen::Operand dst, gen::Operand a,
                        gen::Operand b) {
  gen::Instruction inst;
  inst.opcode = opcode;
  inst.exec_size = static_cast<std::uint8_t>(lanes);
  inst.no_mask = true;
  inst.has_dst = true;
  inst.source_count = 2;
  inst.dst = dst;
  inst.src[0] = a;
  inst.src[1] = b;
  return inst;
}

model::Machine run(jit::Engine& engine, const std::vector<gen::Instruction>& instructions,
                   const model::Machine& start, std::uint32_t fp_mode) {
  const model::Program program = model::assemble(instructions);
  const std::unique_ptr<jit::Executable> executable = model::compile(engine, program, false);
  model::Thread thread(*executable, start, fp_mode);
  REQUIRE(thread.run(100'000) == jit::Status::Exited);
  return thread.machine(start);
}

constexpr std::uint32_t keep_denormals = 0x4c0;  // cr0.0
/// First registers of the table's numbers and of the results, which take a register per row and part.
constexpr unsigned numbers = 2, results = 40;

void compare_all(gen::Opcode opcode, Type type, bool keep) {
  const unsigned bytes = gen::size_of(type), lanes = type == Type::f ? 16 : 8, parts = 16 / lanes;
  const std::array<double, classes> values = class_values(type);
  model::Machine start;
  for (unsigned i = 0; i < classes; ++i) {
    const std::uint64_t bits = model::encode_float(values[i], type);
    std::memcpy(start.grf.data() + 32 * numbers + i * bytes, &bits, bytes);
  }
  for (const std::unique_ptr<jit::Engine>& engine : model::all_engines())
    for (const Table& table : tables) {
      std::vector<gen::Instruction> code;
      for (unsigned row = 0; row < classes; ++row)
        for (unsigned part = 0; part < parts; ++part) {
          // Each comparison writes ones or zeros to its destination; 16 elements per row.
          gen::Operand dst = grf(results + 4 * row + 2 * part, 0, type, {0, 1, 1});
          gen::Instruction inst =
              binary(opcode, lanes, dst, grf(numbers, row * bytes % 32, type, {0, 1, 0}),
                     grf(numbers + part * lanes * bytes / 32, 0, type, {32 / 8, 32 / 8, 1}));
          inst.src[0].reg = static_cast<std::uint8_t>(numbers + row * bytes / 32);
          inst.cond_mod = table.condition;
          code.push_back(inst);
        }
      const model::Machine end = run(*engine, code, start, keep ? keep_denormals : 0x400);
      for (unsigned row = 0; row < classes; ++row)
        for (unsigned column = 0; column < classes; ++column) {
          double a = values[row], b = values[column];
          const char cell = table.rows[row][column];
          if (cell == '*' && !keep) a = std::fabs(a) < 1e-30 ? 0 : a, b = std::fabs(b) < 1e-30 ? 0 : b;
          bool wanted = cell == 'T' || (cell != 'F' && by_value(table.condition, a, b));
          // With a NaN as src1 the comparisons for minimum and maximum are true, except ne.
          if (opcode == gen::Opcode::cmpn && column == classes - 1) wanted = table.condition != CondMod::ne;
          std::uint64_t found = 0;
          std::memcpy(
              &found,
              end.grf.data() + 32 * (results + 4 * row + 2 * (column / lanes)) + column % lanes * bytes,
              bytes);
          INFO(engine->name() << " condition " << static_cast<int>(table.condition) << " row " << row
                              << " column " << column << (keep ? " denormals kept" : " denormals flushed"));
          CHECK(found == (wanted ? ~0ull >> (64 - 8 * bytes) : 0));
        }
    }
}

/// Rows of 2.4.1: a float, and the integers it becomes as UD, D, UW, W, UB, B.
struct Conversion {
  double value;
  std::array<std::uint32_t, 6> integers;
};
const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
const Conversion conversions[] = {
    {0.0, {0, 0, 0, 0, 0, 0}},
    {-0.0, {0, 0, 0, 0, 0, 0}},
    {0x1p-140, {0, 0, 0, 0, 0, 0}},
    {-0x1p-140, {0, 0, 0, 0, 0, 0}},
    {nan, {0, 0, 0, 0, 0, 0}},
    {-nan, {0, 0, 0, 0, 0, 0}},
    {infinity, {0xffffffff, 0x7fffffff, 0xffff, 0x7fff, 0xff, 0x7f}},
    {-infinity, {0, 0x80000000, 0, 0x8000, 0, 0x80}},
    {0x1p32, {0xffffffff, 0x7fffffff, 0xffff, 0x7fff, 0xff, 0x7f}},
    {-0x1p32 - 512, {0, 0x80000000, 0, 0x8000, 0, 0x80}},
    {1.999, {1, 1, 1, 1, 1, 1}},  // rounded to zero
    {-1.999, {0, 0xffffffff, 0, 0xffff, 0, 0xff}},
};

}  // namespace

TEST_CASE("floats compare as the manual's tables say") {
  for (const Type type : {Type::f, Type::df})
    for (const bool keep : {true, false})
      for (const gen::Opcode opcode : {gen::Opcode::cmp, gen::Opcode::cmpn}) compare_all(opcode, type, keep);
}

TEST_CASE("floats become integers as the manual's table says") {
  constexpr Type types[] = {Type::ud, Type::d, Type::uw, Type::w, Type::ub, Type::b};
  constexpr unsigned count = std::size(conversions);
  static_assert(count <= 16);
  for (const bool saturate : {false, true})
    for (const Type from : {Type::f, Type::df}) {
      const unsigned bytes = gen::size_of(from), lanes = 64 / bytes;
      model::Machine start;
      for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t bits = model::encode_float(conversions[i].value, from);
        std::memcpy(start.grf.data() + 32 * numbers + i * bytes, &bits, bytes);
      }
      for (const std::unique_ptr<jit::Engine>& engine : model::all_engines()) {
        std::vector<gen::Instruction> code;
        for (unsigned t = 0; t < std::size(types); ++t)
          for (unsigned part = 0; part < 16 / lanes; ++part) {
            gen::Instruction inst =
                binary(gen::Opcode::mov, lanes, grf(results + 8 * t + 2 * part, 0, types[t], {0, 1, 1}),
                       grf(numbers + 2 * part, 0, from, {4, 4, 1}), {});
            inst.source_count = 1;
            inst.saturate = saturate;
            code.push_back(inst);
          }
        const model::Machine end = run(*engine, code, start, keep_denormals);
        for (unsigned t = 0; t < std::size(types); ++t)
          for (unsigned i = 0; i < count; ++i) {
            std::uint32_t found = 0;
            std::memcpy(&found,
                        end.grf.data() + 32 * (results + 8 * t + 2 * (i / lanes)) +
                            i % lanes * gen::size_of(types[t]),
                        gen::size_of(types[t]));
            INFO(engine->name() << " " << conversions[i].value << " to " << gen::info(types[t]).name);
            CHECK(found == conversions[i].integers[t]);
          }
      }
    }
}

}  // namespace eum::test
