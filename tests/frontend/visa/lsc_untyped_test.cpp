// Lsc loads, stores and atomics: every operation, data size, vector, order, address model and execution size,
// with addresses in rows, all over memory and beyond its end, under masks.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/frontend/visa/lsc_bed.hpp"

using namespace lsc_bed;
using lsc_model::Data;
using lsc_model::Instruction;

namespace {

constexpr const char* data_names[] = {"d8", "d16", "d32", "d64", "d8u32", "d16u32", "d16u32h"};

/// An address model: its text, and the memory that its addresses reach.
struct Model {
  const char* unit;
  const char* text;
  const char* size;
  unsigned address_bytes;
  std::uint64_t first;  ///< value in an address register for the first accessible byte
  unsigned bytes;
  std::uint64_t base;  ///< added by the model
  int area;            ///< area of the bounded memory; -1: flat
};
constexpr Model models[] = {
    {"ugm", "flat", "a64", 8, high_base, area_bytes, 0, -1},
    {"ugm", "flat", "a32", 4, low_base, area_bytes, 0, -1},
    {"slm", "flat", "a32", 4, 0, slm_bytes, 0, Slm},
    {"slm", "flat", "a16", 2, 0, slm_bytes, 0, Slm},
    {"ugm", "bti(0x3)", "a32", 4, 0, surface_bytes, 0, Surface},
    {"ugm", "bti(S.2)", "a32", 4, 0, surface_bytes, 0, Surface},
    {"ugm", "bti(3)", "a64", 8, 0, surface_bytes, 0, Surface},
    {"ugm", "bss(S(0,3))", "a32", 4, 0, surface_bytes, 0, Surface},
    {"ugm", "bss(0x80)", "a64", 8, 0, surface_bytes, 0, Surface},
    {"ugm", "ss(S(0,4))", "a32", 4, 0, surface_bytes, 0, Surface},
    {"ugm", "bss(S.5,1)", "a32", 4, 0, surface_bytes, 0, Surface},
    {"ugm", "arg", "a32", 4, 0, area_bytes, low_base, -1},
    {"ugm", "arg", "a64", 8, 0, area_bytes, low_base, -1},
    {"ugm", "bti(255)", "a32", 4, low_base, area_bytes, 0, -1},
    {"ugm", "bti(254)", "a32", 4, 0, slm_bytes, 0, Slm},
    {"ugml", "flat", "a64", 8, high_base, area_bytes, 0, -1},
    {"ugm", "flat(Q.6)", "a64", 8, 0, area_bytes, high_base, -1},
};
constexpr unsigned surface_dwords[] = {2, surface_index,    3, bindless_place + 5,
                                       4, state_place + 63, 5, bindless_place - 64};

struct Scaling {
  unsigned scale;
  int offset;
};

/// In S.7.
constexpr std::uint32_t pitch_in_register = 20;

constexpr Scaling scalings[] = {{1, 0}, {4, 16}, {1, -32}, {3, 48}, {8, 0}, {1, 0x10000}};

constexpr std::uint32_t masks[] = {~0u, 0x55555555, 1, 0x7ffe7ffe, 0, 0x80010000, 0x00ff00ff};

enum class Pattern : std::uint8_t { Row, Scattered, Same, End, Count };

class Matrix {
 public:
  /// Runs one instruction with every pattern and checks the results. `pitch` follows the address's offset.
  void check(Instruction in, const Model& model, const std::string& name, const std::string& shape,
             const std::string& pitch = "");
  unsigned count() const { return count_; }

 private:
  std::string line(const Instruction& in, const Model& model, const std::string& name,
                   const std::string& shape, const std::string& pitch) const;
  void place(lsc_model::Machine& machine, const Instruction& in, const Model& model, Pattern pattern,
             Random& random);

  Bed bed_;
  unsigned count_ = 0;
};

std::string Matrix::line(const Instruction& in, const Model& model, const std::string& name,
                         const std::string& shape, const std::string& pitch) const {
  const std::string scale = in.scale == 1 ? "" : fmt::format("{}*", in.scale);
  const std::string offset = in.offset == 0 ? "" : fmt::format("{:+#x}", in.offset);
  const std::string address = fmt::format("{}[{}A{}{}]:{}", model.text, scale, offset, pitch, model.size);
  const auto operand = [](unsigned at) {
    return at == Instruction::none ? "%null" : at == first_source ? "Y" : at == second_source ? "Z" : "V";
  };
  const std::string start = fmt::format("lsc_{}.{} (M1, {}) ", name, model.unit, in.exec);
  if (in.kind == Instruction::Kind::Store) return start + address + " V:" + shape;
  const std::string end = in.kind != Instruction::Kind::Atomic
                              ? ""
                              : fmt::format(" {} {}", operand(in.source0), operand(in.source1));
  return start + operand(in.dst) + ":" + shape + " " + address + end;
}

void Matrix::place(lsc_model::Machine& machine, const Instruction& in, const Model& model, Pattern pattern,
                   Random& random) {
  for (unsigned i = 0; i < std::size(surface_dwords); i += 2)
    std::memcpy(machine.registers.data() + scalars + 4 * surface_dwords[i], &surface_dwords[i + 1], 4);
  std::memcpy(machine.registers.data() + scalars + 8 * 6, &high_base, 8);
  std::memcpy(machine.registers.data() + scalars + 4 * 7, &pitch_in_register, 4);
  const unsigned size = memory_bytes(in.data), span = size * (in.channels != 0 ? 4 : in.elements);
  const auto scale = static_cast<std::int64_t>(in.scale);
  // The smallest register value that reaches the memory at a multiple of the element's size.
  const auto wanted = static_cast<std::int64_t>(model.first) - in.offset;
  std::int64_t start = wanted / scale;
  while (start * scale < wanted || start % 8 != 0) ++start;
  const std::uint64_t channels = in.strided ? 1 : in.exec;
  const std::uint64_t reach = span + (in.strided ? in.pitch * (in.exec - 1) : 0);
  const std::uint64_t room = (model.bytes - 64 - reach) / in.scale / 8;
  for (unsigned n = 0; n < channels; ++n) {
    std::int64_t k = 0;
    if (pattern == Pattern::Row) k = std::int64_t{n} * (span % in.scale == 0 ? span / in.scale : 8);
    if (pattern == Pattern::Scattered) k = static_cast<std::int64_t>(random() % room * 8);
    if (pattern == Pattern::Same) k = 8;
    if (pattern == Pattern::End)
      k = static_cast<std::int64_t>(model.bytes / in.scale / 8 * 8) - 32 + std::int64_t{n} * 8;
    std::uint64_t address = static_cast<std::uint64_t>(start + k);
    if (!in.strided && (in.mask >> n & 1) == 0) address = random();
    std::memcpy(machine.registers.data() + addresses + n * in.address_bytes, &address, in.address_bytes);
  }
}

void Matrix::check(Instruction in, const Model& model, const std::string& name, const std::string& shape,
                   const std::string& pitch) {
  const unsigned grf = ++count_ % 3 == 0 ? 32 : 64;
  if (count_ % EUMULATE_STEP != 0) return;
  // 16-bit addresses have 16-bit offsets.
  Scaling scaling = scalings[count_ % std::size(scalings)];
  if (in.address_bytes == 2 && scaling.offset > 0x7fff) scaling.offset = 64;
  in.scale = scaling.scale;
  in.offset = scaling.offset;
  in.address_bytes = model.address_bytes;
  in.base = model.base;
  in.addresses = addresses;
  const lsc_model::Bounded bounded{static_cast<unsigned>(std::max(model.area, 0)), model.bytes};
  if (model.area >= 0) in.bounded = &bounded;
  if (in.address_bytes == 2 && in.offset > 0x7fff) in.offset = 64;
  const std::string text = kernel_text(line(in, model, name, shape, pitch));
  const Bed::Kernel kernel = Bed::compile(text, grf);
  Random random(count_);
  for (unsigned p = 0; p < static_cast<unsigned>(Pattern::Count); ++p) {
    const auto pattern = static_cast<Pattern>(p);
    if (pattern == Pattern::End && model.area < 0 && in.kind != Instruction::Kind::Status) continue;
    const std::uint32_t mask = p == 0 ? ~0u : masks[(count_ + p) % std::size(masks)];
    in.mask = mask;
    lsc_model::Machine before = bed_.machine(grf, count_ * 8 + p);
    place(before, in, model, pattern, random);
    lsc_model::Machine after = before;
    const bool done = lsc_model::execute(after, in);
    const std::string problem = bed_.difference(kernel, mask, before, after, done);
    if (problem.empty()) continue;
    FAIL_CHECK(fmt::format("pattern {}, mask {:#x}, registers of {}: {}\n{}", p, mask, grf, problem,
                           line(in, model, name, shape, pitch)));
    return;
  }
}

std::string vector_shape(Data data, unsigned elements, bool transposed) {
  return data_names[static_cast<unsigned>(data)] + (elements == 1 ? "" : fmt::format("x{}", elements)) +
         (transposed ? "t" : "");
}

template <class Visit>
void for_each_shape(Visit visit) {
  constexpr unsigned execs[] = {1, 8, 16, 32};
  for (unsigned d = 0; d < std::size(data_names); ++d) {
    const auto data = static_cast<Data>(d);
    const bool vectors = data == Data::d32 || data == Data::d64;
    for (unsigned elements : {1u, 2u, 3u, 4u, 8u})
      for (unsigned exec : execs)
        if (elements == 1 || vectors) visit(data, elements, false, exec);
    for (unsigned elements : {1u, 2u, 3u, 4u, 8u, 16u, 32u, 64u})
      if (vectors) visit(data, elements, true, 1);
  }
}

Instruction instruction(Instruction::Kind kind, Data data, unsigned elements, bool transposed,
                        unsigned exec) {
  Instruction in;
  in.kind = kind;
  in.data = data;
  in.elements = elements;
  in.transposed = transposed;
  in.exec = exec;
  (kind == Instruction::Kind::Store ? in.source0 : in.dst) = values;
  return in;
}

}  // namespace

TEST_CASE("lsc: loads and stores of every size, vector, order and address model") {
  using Kind = Instruction::Kind;
  Matrix matrix;
  for (const Model& model : models)
    for_each_shape([&](Data data, unsigned elements, bool transposed, unsigned exec) {
      const std::string shape = vector_shape(data, elements, transposed);
      matrix.check(instruction(Kind::Load, data, elements, transposed, exec), model, "load", shape);
      matrix.check(instruction(Kind::Store, data, elements, transposed, exec), model,
                   matrix.count() % 8 == 0 ? "store_uncompressed" : "store", shape);
    });
  CHECK(matrix.count() == std::size(models) * 2 * 76);
}

TEST_CASE("lsc: strided loads and stores, packed unless a pitch says otherwise") {
  using Kind = Instruction::Kind;
  Matrix matrix;
  for (const Model& model : models) {
    // Strided accesses scale one address.
    for_each_shape([&](Data data, unsigned elements, bool transposed, unsigned exec) {
      const std::string shape = vector_shape(data, elements, transposed);
      const unsigned packed = elements * memory_bytes(data);
      const struct {
        std::string text;
        unsigned pitch;
      } pitches[] = {{"", packed}, {",0x0", 0}, {",0x18", 24}, {",S.7", pitch_in_register}};
      const auto& pitch = pitches[matrix.count() / 2 % std::size(pitches)];
      for (Kind kind : {Kind::Load, Kind::Store}) {
        Instruction in = instruction(kind, data, elements, transposed, exec);
        in.strided = true;
        in.pitch = pitch.pitch;
        matrix.check(in, model, kind == Kind::Load ? "load_strided" : "store_strided", shape, pitch.text);
      }
    });
  }
  CHECK(matrix.count() == std::size(models) * 2 * 76);
}

TEST_CASE("lsc: quads of every channel mask") {
  using Kind = Instruction::Kind;
  Matrix matrix;
  constexpr unsigned execs[] = {1, 8, 16, 32};
  for (unsigned channels = 1; channels < 16; ++channels)
    for (unsigned d = 0; d < std::size(data_names); ++d)
      for (Kind kind : {Kind::Load, Kind::Store}) {
        std::string shape = std::string(data_names[d]) + ".";
        for (unsigned k = 0; k < 4; ++k)
          if ((channels >> k & 1) != 0) shape += "xyzw"[k];
        Instruction in = instruction(kind, static_cast<Data>(d), 1, false, execs[matrix.count() % 4]);
        in.channels = channels;
        matrix.check(in, models[matrix.count() % std::size(models)],
                     kind == Kind::Load ? "load_quad" : "store_quad", shape);
      }
  CHECK(matrix.count() == std::size_t{15} * 7 * 2);
}

TEST_CASE("lsc: every atomic of every size and address model") {
  struct Row {
    const char* name;
    unsigned sources;
  };
  constexpr Row rows[] = {{"iinc", 0}, {"idec", 0}, {"load", 0}, {"store", 1}, {"iadd", 1},
                          {"isub", 1}, {"smin", 1}, {"smax", 1}, {"umin", 1},  {"umax", 1},
                          {"icas", 2}, {"fadd", 1}, {"fsub", 1}, {"fmin", 1},  {"fmax", 1},
                          {"fcas", 2}, {"and", 1},  {"or", 1},   {"xor", 1}};
  Matrix matrix;
  constexpr unsigned execs[] = {32, 16, 8, 1};
  for (const Model& model : models)
    for (const Row& row : rows)
      for (Data data : {Data::d16u32, Data::d32, Data::d64})
        for (bool returns : {true, false}) {
          Instruction in;
          in.kind = Instruction::Kind::Atomic;
          in.atomic = row.name;
          in.data = data;
          in.exec = execs[matrix.count() / 2 % 4];
          if (returns) in.dst = values;
          if (row.sources > 0) in.source0 = first_source;
          if (row.sources > 1) in.source1 = second_source;
          matrix.check(in, model, std::string("atomic_") + row.name, data_names[static_cast<unsigned>(data)]);
        }
  CHECK(matrix.count() == std::size(models) * std::size(rows) * 3 * 2);
}

TEST_CASE("lsc: a status has a bit for each channel whose elements are there") {
  Matrix matrix;
  for (const Model& model : models)
    for (Data data : {Data::d8, Data::d32, Data::d64, Data::d8u32})
      for (unsigned exec : {1u, 8u, 16u, 32u})
        matrix.check(instruction(Instruction::Kind::Status, data, 1, false, exec), model, "load_status",
                     vector_shape(data, 1, false));
  CHECK(matrix.count() == std::size(models) * 4 * 4);
}
