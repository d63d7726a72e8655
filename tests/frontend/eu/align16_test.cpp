// Align16 against a model of it: random swizzles, channel enables, strides, predicates and masks, in
// instruction words assembled here. The model works on the fields of the word and is independent of
// frontend/eu.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/engine.hpp"

using namespace eum;

namespace {

enum class Element { f, d, uw, df };
constexpr unsigned bytes_of(Element e) { return e == Element::df ? 8 : e == Element::uw ? 2 : 4; }

struct Source {
  unsigned reg = 0, oword = 0;
  bool rows = true;  ///< vertical stride 4, not 0
  bool replicate = false;
  bool negate = false;
  bool indirect = false;  ///< source i: through a0.i, with an offset of one oword
  std::array<unsigned, 4> swizzle{};
};

enum class Operation { add, sel, cmp_lt, dp4, mad, line, pln };

constexpr bool is_plane(Operation o) { return o == Operation::line || o == Operation::pln; }

/// The fields of one instruction.
struct Fields {
  Operation operation = Operation::add;
  Element type = Element::f;
  unsigned exec_size = 8, first = 0;  ///< first channel
  bool no_mask = false, inverse = false;
  unsigned predicate = 0;  ///< as encoded: 0 none, 1 channel, 2 to 5 x to w, 6 any4h, 7 all4h
  unsigned flag = 0;       ///< f0.0, f0.1, f1.0, f1.1
  unsigned condition = 0;  ///< of add: 0 or 5, less than zero
  unsigned dst = 0, enable = 15;
  bool indirect = false;  ///< destination: through a0.2, with an offset of minus one oword
  std::array<Source, 3> src;
};

class Word {
 public:
  void set(unsigned high, unsigned low, std::uint64_t value) {
    for (unsigned bit = low; bit <= high; ++bit, value >>= 1)
      if ((value & 1) != 0) bytes_[bit / 8] |= std::byte(1u << bit % 8);
  }
  const std::array<std::byte, 16>& bytes() const { return bytes_; }

 private:
  std::array<std::byte, 16> bytes_{};
};

unsigned log2_of(unsigned n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }
unsigned packed(const std::array<unsigned, 4>& s) { return s[0] | s[1] << 2 | s[2] << 4 | s[3] << 6; }

Word encode(const Fields& f) {
  Word w;
  const bool ternary = f.operation == Operation::mad;
  constexpr unsigned opcodes[] = {0x40, 0x02, 0x10, 0x54, 0x5b, 0x59, 0x5a};
  w.set(6, 0, opcodes[static_cast<unsigned>(f.operation)]);
  w.set(8, 8, 1);
  w.set(13, 11, f.first / 4);
  w.set(19, 16, f.predicate);
  w.set(20, 20, f.inverse);
  w.set(23, 21, log2_of(f.exec_size));
  w.set(27, 24, f.operation == Operation::cmp_lt ? 5 : f.condition);
  w.set(33, 32, f.flag);
  w.set(34, 34, f.no_mask);
  if (ternary) {
    const unsigned type = f.type == Element::df ? 3 : f.type == Element::d ? 1 : 0;
    w.set(48, 46, type);
    w.set(45, 43, type);
    w.set(52, 49, f.enable);
    w.set(63, 56, f.dst);
    constexpr unsigned reg[] = {76, 97, 118}, subreg[] = {73, 94, 115}, select[] = {65, 86, 107},
                       replicate[] = {64, 85, 106};
    for (unsigned i = 0; i < 3; ++i) {
      w.set(reg[i] + 7, reg[i], f.src[i].reg);
      w.set(subreg[i] + 2, subreg[i], 4 * f.src[i].oword);
      w.set(select[i] + 7, select[i], packed(f.src[i].swizzle));
      w.set(replicate[i], replicate[i], f.src[i].replicate);
      w.set(38 + 2 * i, 38 + 2 * i, f.src[i].negate);
    }
    return w;
  }
  constexpr unsigned types[] = {7, 1, 2, 6};
  const unsigned type = types[static_cast<unsigned>(f.type)];
  w.set(36, 35, 1);
  w.set(40, 37, type);
  w.set(51, 48, f.enable);
  if (f.indirect) {
    w.set(63, 63, 1);
    w.set(60, 57, 2);
    w.set(56, 52, 31);
    w.set(47, 47, 1);
  } else {
    w.set(60, 53, f.dst);
  }
  for (unsigned i = 0; i < 2; ++i) {
    const Source& s = f.src[i];
    const unsigned at = 32 * i;
    if (i == 0) {
      w.set(42, 41, 1);
      w.set(46, 43, type);
    } else {
      w.set(90, 89, 1);
      w.set(94, 91, type);
    }
    if (s.indirect) {
      w.set(79 + at, 79 + at, 1);
      w.set(76 + at, 73 + at, i);
      w.set(72 + at, 68 + at, 1);
    } else {
      w.set(76 + at, 69 + at, s.reg);
      w.set(68 + at, 68 + at, s.oword);
    }
    w.set(67 + at, 64 + at, packed(s.swizzle) & 15);
    w.set(83 + at, 80 + at, packed(s.swizzle) >> 4);
    w.set(78 + at, 78 + at, s.negate);
    w.set(88 + at, 85 + at, s.rows ? 3 : 0);
  }
  return w;
}

/// Registers of 32 bytes each, flags, and the execution mask.
struct Machine {
  std::array<std::uint8_t, 64 * 32> file{};
  std::uint64_t flags = 0;
  std::uint32_t mask = 0;
};

template <class T>
T load(const Machine& m, unsigned at) {
  T value;
  std::memcpy(&value, &m.file[at], sizeof value);
  return value;
}

template <class T>
void step(Machine& m, const Fields& f) {
  const bool pairs = sizeof(T) == 8;
  const unsigned row = pairs ? 2 : 4;
  auto read = [&](const Source& s, unsigned lane) {
    unsigned element = 0;
    if (!s.replicate) {
      const unsigned column = pairs ? s.swizzle[2 * (lane % 2)] / 2 : s.swizzle[lane % 4];
      // IGA encodes a scalar quadword as xyxy or zwzw.
      const bool scalar = f.operation == Operation::mad && pairs && s.swizzle[0] == s.swizzle[2];
      element = column + (s.rows && !scalar ? lane / row * row : 0);
    }
    const T value = load<T>(m, 32 * s.reg + 16 * s.oword + element * static_cast<unsigned>(sizeof(T)));
    return s.negate ? static_cast<T>(-value) : value;
  };
  const auto flag = [&](unsigned channel) { return (m.flags >> (16 * f.flag + channel) & 1) != 0; };
  Machine after = m;
  for (unsigned lane = 0; lane < f.exec_size; ++lane) {
    const unsigned channel = f.first + lane, group = channel / 4 * 4;
    unsigned ones = 0;
    for (unsigned i = 0; i < 4; ++i) ones += flag(group + i);
    bool predicate = true;
    if (f.predicate == 1) predicate = flag(channel);
    if (f.predicate >= 2 && f.predicate <= 5) predicate = flag(group + f.predicate - 2);
    if (f.predicate == 6) predicate = ones != 0;
    if (f.predicate == 7) predicate = ones == 4;
    if (f.predicate != 0) predicate ^= f.inverse;
    bool on = f.no_mask || (m.mask >> channel & 1) != 0;
    on &= (f.enable >> (pairs ? lane % 2 * 2 : lane % 4) & 1) != 0;
    if (f.operation != Operation::sel) on &= predicate;
    if (!on) continue;
    const T a = read(f.src[0], lane), b = read(f.src[1], lane);
    // In line and pln, source 0 is the location of p, q and, after a gap, r, whatever its swizzle is.
    const auto coefficient = [&](unsigned index) {
      const T value = load<T>(m, 32 * f.src[0].reg + 16 * f.src[0].oword + 4 * index);
      return f.src[0].negate ? static_cast<T>(-value) : value;
    };
    // A register holds u for eight channels, the next one v.
    const auto coordinate = [&](unsigned index) {
      return load<T>(m, 32 * (f.src[1].reg + lane / 8 * 2 + index) + lane % 8 * 4);
    };
    T result{};
    switch (f.operation) {
      case Operation::add:
        result = static_cast<T>(a + b);
        break;
      case Operation::sel:
        result = predicate ? a : b;
        break;
      case Operation::cmp_lt: {
        std::memset(&result, a < b ? 0xff : 0, sizeof result);
        break;
      }
      case Operation::dp4:
        for (unsigned i = 0; i < 4; ++i) {
          const T product =
              static_cast<T>(read(f.src[0], lane / 4 * 4 + i) * read(f.src[1], lane / 4 * 4 + i));
          result = i == 0 ? product : static_cast<T>(result + product);
        }
        break;
      case Operation::mad:
        result = static_cast<T>(a + b * read(f.src[2], lane));
        break;
      case Operation::line:
        result = static_cast<T>(coefficient(0) * b + coefficient(3));
        break;
      case Operation::pln:
        result =
            static_cast<T>(coefficient(0) * coordinate(0) + coefficient(1) * coordinate(1) + coefficient(3));
        break;
    }
    std::memcpy(&after.file[32 * f.dst + lane * sizeof(T)], &result, sizeof result);
    if (f.operation == Operation::cmp_lt || f.condition != 0) {
      const bool holds = f.operation == Operation::cmp_lt ? a < b : result < T{};
      const std::uint64_t bit = 1ull << (16 * f.flag + channel);
      after.flags = holds ? after.flags | bit : after.flags & ~bit;
    }
  }
  m = after;
}

void step(Machine& m, const Fields& f) {
  switch (f.type) {
    case Element::f:
      return step<float>(m, f);
    case Element::d:
      return step<std::int32_t>(m, f);
    case Element::uw:
      return step<std::uint16_t>(m, f);
    case Element::df:
      return step<double>(m, f);
  }
}

Fields random_fields(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Fields f;
  f.operation = static_cast<Operation>(below(7));
  f.type = static_cast<Element>(below(4));
  if (f.operation == Operation::dp4 || is_plane(f.operation)) f.type = Element::f;
  if (f.operation == Operation::mad && f.type == Element::uw) f.type = Element::d;
  f.exec_size = 1u << below(f.type == Element::df ? 4 : 5);
  if (f.operation == Operation::dp4) f.exec_size = 4u << below(3);
  if (f.operation == Operation::pln) f.exec_size = 8u << below(2);
  const unsigned step = f.exec_size < 4 ? 4 : f.exec_size;
  f.first = below(16 / step) * step;
  f.no_mask = below(2) == 0;
  f.predicate = below(3) == 0 ? 0 : below(8);
  f.inverse = below(2) == 0;
  f.flag = below(4);
  if (f.operation == Operation::sel && f.predicate == 0) f.predicate = 1;
  if (f.operation == Operation::add && below(2) == 0) f.condition = 5;
  f.dst = 2 * below(16);
  f.indirect = f.operation != Operation::mad && below(8) == 0;
  f.enable = below(2) == 0 ? 15 : below(16);
  if (f.type == Element::df) f.enable = (f.enable & 1) * 3 | (f.enable >> 2 & 1) * 12;
  for (Source& s : f.src) {
    s.reg = 2 + 2 * below(14);
    s.oword = f.exec_size * bytes_of(f.type) <= 48 ? below(2) : 0;
    s.rows = f.operation == Operation::mad || below(3) != 0;
    s.replicate = f.operation == Operation::mad && below(4) == 0;
    s.indirect = f.operation != Operation::mad && below(4) == 0;
    s.negate = f.type != Element::uw && below(3) == 0;
    const unsigned same = below(4), how = below(4);
    for (unsigned i = 0; i < 4; ++i) s.swizzle[i] = how == 0 ? i : how == 1 ? same : below(4);
    if (f.type == Element::df)
      for (unsigned i = 0; i < 4; i += 2) {
        s.swizzle[i] &= 2;
        s.swizzle[i + 1] = s.swizzle[i] + 1;
      }
  }
  if (is_plane(f.operation)) f.src[0].indirect = false;
  if (f.operation == Operation::pln) {
    for (Source& s : f.src) s.negate = false;
    f.src[1].indirect = false;
    f.src[1].oword = 0;
  }
  return f;
}

void fill(Machine& m, Element type, std::mt19937& random) {
  // Small whole numbers, whose sums and products are exact.
  for (unsigned at = 0; at < m.file.size(); at += bytes_of(type)) {
    const int value = static_cast<int>(random() % 41) - 20;
    if (type == Element::f) {
      const auto v = static_cast<float>(value);
      std::memcpy(&m.file[at], &v, 4);
    } else if (type == Element::df) {
      const double v = value;
      std::memcpy(&m.file[at], &v, 8);
    } else {
      std::memcpy(&m.file[at], &value, bytes_of(type));
    }
  }
}

/// Runs one instruction, followed by the message that ends the thread.
Machine run(jit::Engine& engine, const Fields& f, const Machine& before) {
  std::vector<std::byte> code(16);
  std::memcpy(code.data(), encode(f).bytes().data(), 16);
  // (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
  constexpr unsigned char words[16] = {0x31, 0, 0x60, 7, 4, 2, 0, 0x20, 0xe0, 0xf, 0, 6, 0x10, 0, 0, 0x82};
  code.resize(32);
  std::memcpy(&code[16], words, 16);
  Result<ir::Function> function = gen::lower_kernel(code, gen::Family::Gen9, 16, "align16");
  REQUIRE(function);
  if (const Result<void> good = ir::verify(*function); !good) FAIL(good.error().message);
  const std::vector<std::string> texts = function->strings;
  Result<std::unique_ptr<jit::Executable>> executable = engine.compile(*function, {});
  if (!executable) FAIL(executable.error().message);
  const jit::StateLayout& layout = (*executable)->layout();
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(64, layout.size)), &std::free);
  std::memset(memory.get(), 0, layout.size);
  auto& state = *new (memory.get()) jit::ThreadState;
  const jit::Environment environment;
  state.environment = &environment;
  std::memcpy(layout.file_of(state), before.file.data(), before.file.size());
  std::memcpy(layout.flags_of(state), &before.flags, 8);
  layout.masks_of(state)[0] = before.mask;
  const std::array<std::uint16_t, 3> addresses{
      static_cast<std::uint16_t>(32 * f.src[0].reg + 16 * f.src[0].oword - 16),
      static_cast<std::uint16_t>(32 * f.src[1].reg + 16 * f.src[1].oword - 16),
      static_cast<std::uint16_t>(32 * f.dst + 16)};
  std::memcpy(layout.file_of(state) + gen::target(gen::Family::Gen9).offset(eu::StateRegister::Address),
              addresses.data(), sizeof addresses);
  const jit::Status status = (*executable)->run(state);
  for (const std::string& text : texts) INFO(text);
  if (status != jit::Status::Exited && !texts.empty()) FAIL(texts[0]);
  REQUIRE(status == jit::Status::Exited);
  Machine after = before;
  std::memcpy(after.file.data(), layout.file_of(state), after.file.size());
  std::memcpy(&after.flags, layout.flags_of(state), 8);
  return after;
}

}  // namespace

TEST_CASE("Align16 instructions do what a model of them does") {
  constexpr unsigned seed = 16;
  std::mt19937 random(seed);
  Result<std::unique_ptr<jit::Engine>> avx2 = jit::make_avx2_engine();
  if (!avx2) FAIL(avx2.error().message);
  const std::unique_ptr<jit::Engine> reference = jit::make_reference_engine();
  for (unsigned i = 0; i < 6000; i += EUMULATE_STEP) {
    const Fields f = random_fields(random);
    Machine before;
    fill(before, f.type, random);
    before.flags = random() | std::uint64_t{random()} << 32;
    before.mask = random() & 0xffff;
    Machine expected = before;
    step(expected, f);
    const auto encoded = encode(f);
    const auto bytes = encoded.bytes();
    const std::vector<std::byte> word(bytes.begin(), bytes.end());
    const Result<gen::Instruction> decoded = gen::decode(word, 0, gen::Family::Gen9);
    REQUIRE(decoded);
    INFO("instruction " << i << ": " << gen::print(*decoded, gen::Family::Gen9));
    for (jit::Engine* engine : {avx2->get(), reference.get()}) {
      INFO(engine->name());
      const Machine found = run(*engine, f, before);
      std::size_t place = 0;
      while (place < found.file.size() && found.file[place] == expected.file[place]) ++place;
      INFO("byte " << place % 32 << " of r" << place / 32);
      REQUIRE(place == found.file.size());
      REQUIRE(found.flags == expected.flags);
    }
  }
}
