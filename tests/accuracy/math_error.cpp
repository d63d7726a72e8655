// Measures the error of each function of the math instruction: one-operand functions over all inputs,
// two-operand ones over random pairs. Uses the AVX2 engine; the reference engine must give the same bits for
// a part of the inputs.
//   math_error [--full] [--function NAME] [--flush] [--rounding 0..3] [--threads N]
// Without --full, one input in 1024, in evenly spread blocks, and the edges, as a test. Exits with 1 if a
// bound of math_functions.cpp, a special value or the agreement of the engines is violated.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "frontend/ir/semantics/half.hpp"
#include "tests/accuracy/math_functions.hpp"

using namespace eum;
using namespace eum::accuracy;

namespace {

/// The layout of a float type.
struct Format {
  int digits;  ///< of the significand
  int least;   ///< exponent of the smallest normal
  int most;    ///< exponent of 2 just above the largest number
};
constexpr Format single{24, -126, 128}, half{11, -14, 16};

Format format_of(const MathFunction& f) { return f.element == Element::HF ? half : single; }

/// The value of a number, infinity or NaN in the function's format.
double value_of(const MathFunction& f, std::uint32_t bits) {
  if (f.element == Element::F) return std::bit_cast<float>(bits);
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 0x3ff);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign * std::ldexp(exponent == 0 ? fraction : fraction + 0x400, std::max(exponent, 1) - 25);
}

double ulp(const Format& format, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);  // exact = m * 2^exponent, 0.5 <= m < 1
  return std::ldexp(1.0, std::clamp(exponent - 1, format.least, format.most - 1) - format.digits + 1);
}

/// The largest error found, and its operands.
struct Worst {
  double error = -1;
  double x = 0, y = 0;
  void see(double candidate, double at_x, double at_y) {
    if (candidate > error) *this = {candidate, at_x, at_y};
  }
  void see(const Worst& other) { see(other.error, other.x, other.y); }
};

struct Measure {
  struct InRange {
    Worst ulp, absolute;
    std::uint64_t inputs = 0, rounded = 0;  ///< number of inputs, and of correctly rounded results
    std::uint64_t broken = 0;
  };
  std::array<InRange, 4> ranges;
  std::uint64_t inputs = 0, special_wrong = 0, engines_differ = 0;
  double special_x = 0, special_y = 0;
  std::string failure;

  void add(const Measure& other) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      ranges[i].ulp.see(other.ranges[i].ulp);
      ranges[i].absolute.see(other.ranges[i].absolute);
      ranges[i].inputs += other.ranges[i].inputs;
      ranges[i].rounded += other.ranges[i].rounded;
      ranges[i].broken += other.ranges[i].broken;
    }
    inputs += other.inputs;
    engines_differ += other.engines_differ;
    if (other.special_wrong != 0) special_x = other.special_x, special_y = other.special_y;
    special_wrong += other.special_wrong;
    if (failure.empty()) failure = other.failure;
  }
};

struct Settings {
  bool full = false, flush = false;
  unsigned rounding = 0, threads = std::max(1u, std::thread::hardware_concurrency());
  std::string only;
  std::uint32_t cr0() const { return (flush ? 0 : keep_denormals) | rounding << 4; }
};

double flushed(const Format& format, double x, bool flush) {
  return flush && std::fabs(x) < std::ldexp(1.0, format.least) ? std::copysign(0.0, x) : x;
}

void judge(const MathFunction& f, const Settings& settings, double x, double y, double got, Measure& into) {
  const Format format = format_of(f);
  x = flushed(format, x, settings.flush);
  y = flushed(format, y, settings.flush);
  const double exact = f.exact(x, y);
  const double limit = std::ldexp(1.0, format.most);
  ++into.inputs;
  // NaNs, and exact infinities or zeros from operands of zero or infinity, admit only one result.
  const bool at_edge = x == 0 || std::isinf(x) || (f.sources == 2 && (y == 0 || std::isinf(y)));
  const bool has_one = std::isnan(exact) || (at_edge && (std::isinf(exact) || exact == 0));
  if (has_one || std::isnan(got)) {
    const bool same =
        std::isnan(exact) ? std::isnan(got) : got == exact && std::signbit(got) == std::signbit(exact);
    if (same) return;
    into.special_x = x, into.special_y = y;
    ++into.special_wrong;
    return;
  }
  const double size = std::fabs(x);
  std::size_t r = 0;
  while (r < f.ranges.size() && !(size >= f.ranges[r].low && size <= f.ranges[r].high)) ++r;
  if (r == f.ranges.size()) return;
  // An infinity counts as the power of two just above the largest number.
  const double wanted = std::clamp(exact, -limit, limit), found = std::clamp(got, -limit, limit);
  const double unit = ulp(format, wanted);
  const double absolute = std::fabs(found - wanted), units = absolute / unit;
  Measure::InRange& in = into.ranges[r];
  // Flushing a denormal result is not an error.
  if (settings.flush && std::fabs(exact) < std::ldexp(1.0, format.least) && found == 0) return;
  ++in.inputs;
  if (units <= 0.5) ++in.rounded;
  in.ulp.see(units, x, y);
  in.absolute.see(absolute, x, y);
  const Range& range = f.ranges[r];
  const double allowed = range.ulp + (range.ulp_times_x == 0 ? 0 : range.ulp_times_x * size);
  const bool within =
      (allowed != 0 && units <= allowed) || (range.absolute != 0 && absolute <= range.absolute);
  if (!within) ++in.broken;
}

/// The inputs of a block of 512: consecutive numbers, or random pairs whose exponents are spread evenly.
void fill(const MathFunction& f, std::uint64_t block, std::array<std::uint32_t, MathCode::channels>& a,
          std::array<std::uint32_t, MathCode::channels>& b) {
  if (f.sources == 1) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint32_t>(block * a.size() + i);
    return;
  }
  std::mt19937_64 random(block);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t bits = random();
    a[i] = static_cast<std::uint32_t>(bits), b[i] = static_cast<std::uint32_t>(bits >> 32);
    // Powers overflow unless the base or the exponent is near 1.
    if (f.code == 10 && f.element == Element::F && i % 4 != 0) {
      a[i] = (a[i] & 0x03ffffff) + 0x3e000000 + (a[i] >> 31 << 31);
      b[i] = (b[i] & 0x87ffffff) + 0x3c000000;
    }
  }
}

class Runner {
 public:
  Runner(const MathFunction& f, const Settings& settings) : f_(f), settings_(settings) {}

  /// Runs the blocks begin, begin + step, ... below `end` of the scrambled order.
  Measure run(std::uint64_t begin, std::uint64_t end, std::uint64_t step, std::uint64_t blocks) {
    Measure measure;
    auto fast = jit::make_avx2_engine();
    if (!fast) return measure.failure = fast.error().message, measure;
    const auto slow = jit::make_reference_engine();
    auto code = MathCode::create(**fast, f_.code, f_.sources, f_.element, settings_.cr0());
    auto reference = MathCode::create(*slow, f_.code, f_.sources, f_.element, settings_.cr0());
    if (!code || !reference) {
      measure.failure = (!code ? code : reference).error().message;
      return measure;
    }
    constexpr std::uint64_t scrambled = 0x9e3779b1;  // odd: visits every block once
    for (std::uint64_t i = begin; i < end && measure.failure.empty(); i += step) {
      const std::uint64_t block = f_.sources == 1 ? i * scrambled % blocks : i;
      one(*code, i % 64 < step ? &*reference : nullptr, block, measure);
    }
    // Numbers around powers of two, zeros, infinities and the like, whatever part is measured.
    if (begin == 0 && f_.sources == 1)
      for (const std::uint64_t high :
           {0x000u, 0x008u, 0x3e0u, 0x3f8u, 0x400u, 0x408u, 0x42fu, 0x430u, 0x431u, 0x490u, 0x7f0u, 0x7f8u})
        for (const std::uint64_t sign : {0u, 0x800u}) {
          const std::uint64_t edge = (high | sign) << 20 >> (f_.element == Element::HF ? 16 : 0);
          const std::uint64_t block = edge / MathCode::channels;
          one(*code, &*reference, block, measure);
          one(*code, &*reference, (block + blocks - 1) % blocks, measure);
        }
    return measure;
  }

 private:
  using Lanes = std::array<std::uint32_t, MathCode::channels>;

  void packed(const Lanes& lanes, Lanes& out) const {
    if (f_.element == Element::F) {
      out = lanes;
      return;
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const auto bits = static_cast<std::uint16_t>(lanes[i]);
      std::memcpy(reinterpret_cast<std::byte*>(out.data()) + 2 * i, &bits, 2);
    }
  }
  std::uint32_t lane(const Lanes& lanes, std::size_t i) const {
    if (f_.element == Element::F) return lanes[i];
    std::uint16_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const std::byte*>(lanes.data()) + 2 * i, 2);
    return bits;
  }

  void one(MathCode& code, MathCode* reference, std::uint64_t block, Measure& measure) const {
    Lanes a{}, b{}, x{}, y{}, got{}, other{};
    fill(f_, block, a, b);
    packed(a, x);
    packed(b, y);
    if (auto ran = code.run(x.data(), y.data(), got.data()); !ran) measure.failure = ran.error().message;
    if (reference != nullptr) {
      if (auto ran = reference->run(x.data(), y.data(), other.data()); !ran)
        measure.failure = ran.error().message;
      for (std::size_t i = 0; i < a.size(); ++i)
        if (lane(got, i) != lane(other, i)) ++measure.engines_differ;
    }
    for (std::size_t i = 0; i < a.size(); ++i)
      judge(f_, settings_, value_of(f_, lane(x, i)), value_of(f_, lane(y, i)), value_of(f_, lane(got, i)),
            measure);
  }

  const MathFunction& f_;
  const Settings& settings_;
};

Measure measure(const MathFunction& f, const Settings& settings) {
  // All inputs for one operand; for two, a sixteenth of that number of pairs.
  const bool whole = f.element == Element::HF && f.sources == 1;
  const std::uint64_t blocks = (whole ? 1ull << 16 : 1ull << 32) / MathCode::channels;
  const std::uint64_t part = whole ? blocks : f.sources == 2 ? blocks >> 4 : blocks;
  const std::uint64_t end = settings.full || whole ? part : part >> 10;
  std::vector<Measure> results(settings.threads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < settings.threads; ++t)
    threads.emplace_back([&, t] { results[t] = Runner(f, settings).run(t, end, settings.threads, blocks); });
  for (std::thread& thread : threads) thread.join();
  Measure all;
  for (const Measure& one : results) all.add(one);
  return all;
}

/// Quotient and remainder of random pairs; prints a line and returns false if one differs from the C++
/// operators. For division by zero see frontend/ir/ops.def.
template <class Integer>
bool division(const char* name, Element element, unsigned code_number, std::uint64_t blocks) {
  auto fast = jit::make_avx2_engine();
  if (!fast) return fmt::print("FAILED: {}\n", fast.error().message), false;
  auto code = MathCode::create(**fast, code_number, 2, element, keep_denormals);
  if (!code) return fmt::print("FAILED: {}: {}\n", name, code.error().message), false;
  std::array<Integer, MathCode::channels> a{}, b{}, got{};
  std::mt19937_64 random(code_number);
  std::uint64_t pairs = 0, wrong = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      // Every length in bits is equally frequent.
      const std::uint64_t bits = random(), shifts = random();
      a[i] = static_cast<Integer>(static_cast<Integer>(bits) >> shifts % 32);
      b[i] = static_cast<Integer>(static_cast<Integer>(bits >> 32) >> (shifts >> 32) % 32);
    }
    if (auto ran = code->run(a.data(), b.data(), got.data()); !ran)
      return fmt::print("FAILED: {}: {}\n", name, ran.error().message), false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (b[i] == 0) continue;
      const auto x = static_cast<std::int64_t>(a[i]), y = static_cast<std::int64_t>(b[i]);
      const auto wanted = static_cast<Integer>(code_number == 12 ? x / y : x % y);
      ++pairs;
      if (got[i] == wanted) continue;
      if (++wrong == 1) fmt::print("WRONG: {} of {} and {} is {}\n", name, a[i], b[i], got[i]);
    }
  }
  fmt::print("| {} | all | {} | {} wrong | | | | | exact |\n", name, pairs, wrong);
  return wrong == 0;
}

bool divisions(bool full) {
  const std::uint64_t blocks = full ? 1 << 19 : 1 << 9;
  bool good = division<std::int32_t>("iqot:d", Element::D, 12, blocks);
  good &= division<std::int32_t>("irem:d", Element::D, 13, blocks);
  good &= division<std::uint32_t>("iqot:ud", Element::UD, 12, blocks);
  return good & division<std::uint32_t>("irem:ud", Element::UD, 13, blocks);
}

std::string place(const MathFunction& f, const Worst& worst) {
  return f.sources == 1 ? fmt::format("{:a}", worst.x) : fmt::format("{:a}, {:a}", worst.x, worst.y);
}

/// Prints the rows of a function; returns false if a bound is violated.
bool report(const MathFunction& f, const Measure& m) {
  bool good = m.failure.empty() && m.special_wrong == 0 && m.engines_differ == 0;
  for (std::size_t r = 0; r < f.ranges.size(); ++r) {
    const Range& range = f.ranges[r];
    const Measure::InRange& in = m.ranges[r];
    if (in.inputs == 0) continue;
    good &= in.broken == 0;
    const double share = 100.0 * static_cast<double>(in.rounded) / static_cast<double>(in.inputs);
    fmt::print("| {} | {:g} to {:g} | {} | {:.3f} | {} | {:.3g} | {} | {:.2f} % | {} |\n", f.name, range.low,
               range.high, in.inputs, in.ulp.error, place(f, in.ulp), in.absolute.error,
               place(f, in.absolute), share, range.source);
    if (in.broken != 0)
      fmt::print("BROKEN: {} inputs of {} are beyond {}\n", in.broken, f.name, range.source);
  }
  if (m.special_wrong != 0)
    fmt::print("WRONG: {} special values of {}, as at {:a}, {:a}\n", m.special_wrong, f.name, m.special_x,
               m.special_y);
  if (m.engines_differ != 0) fmt::print("DIFFERENT: {} results of {}\n", m.engines_differ, f.name);
  if (!m.failure.empty()) fmt::print("FAILED: {}: {}\n", f.name, m.failure);
  std::fflush(stdout);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Error of the math instruction's functions"};
  app.add_flag("--full", settings.full, "all inputs of one operand; 2^28 pairs of two");
  app.add_option("--function", settings.only, "only the one with this name");
  app.add_flag("--flush", settings.flush, "denormals are flushed");
  app.add_option("--rounding", settings.rounding, "cr0's mode: even, up, down, to zero")
      ->check(CLI::Range(0, 3));
  app.add_option("--threads", settings.threads)->check(CLI::Range(1, 256));
  CLI11_PARSE(app, argc, argv);
  fmt::print(
      "| function | of the first operand's size | inputs | largest error, ulp | at | absolute | at | "
      "correctly "
      "rounded | bound |\n|---|---|---|---|---|---|---|---|---|\n");
  bool good = true, any = false;
  for (const MathFunction& f : math_functions()) {
    if (!settings.only.empty() && f.name != settings.only) continue;
    any = true;
    good &= report(f, measure(f, settings));
  }
  if (settings.only.empty()) good &= divisions(settings.full);
  if (!any) fmt::print("no function {}\n", settings.only);
  return good && any ? 0 : 1;
}
