// Shared by the case files: seeded random numbers, argument makers, typed views for references, half
// precision. Only the corpus itself and the rows of perf include it.
#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/kernels/corpus.hpp"

namespace eum::kernels {

void add_given_cases(std::vector<KernelCase>& cases);
void add_group_cases(std::vector<KernelCase>& cases);
void add_grid_cases(std::vector<KernelCase>& cases);
void add_integer_cases(std::vector<KernelCase>& cases);
void add_packed_cases(std::vector<KernelCase>& cases);
void add_math_cases(std::vector<KernelCase>& cases);
void add_convert_cases(std::vector<KernelCase>& cases);
void add_half_cases(std::vector<KernelCase>& cases);
void add_flow_cases(std::vector<KernelCase>& cases);
void add_memory_cases(std::vector<KernelCase>& cases);
void add_pointer_cases(std::vector<KernelCase>& cases);
void add_vector_cases(std::vector<KernelCase>& cases);
void add_atomic_cases(std::vector<KernelCase>& cases);
void add_subgroup_cases(std::vector<KernelCase>& cases);
void add_image_cases(std::vector<KernelCase>& cases);
void add_picture_cases(std::vector<KernelCase>& cases);
void add_work_cases(std::vector<KernelCase>& cases);
void add_micro_cases(std::vector<KernelCase>& cases);

/// splitmix64: gives the same numbers on every host.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [low, high], both ends included.
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % (static_cast<uint64_t>(high - low) + 1));
  }
  /// In [low, high).
  double real(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
  }

 private:
  uint64_t state_;
};

template <class T>
Bytes bytes_of(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  Bytes bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// The element of a C++ type; halves must be specified explicitly, because they are passed as uint16_t.
template <class T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>)
    return Element::F32;
  else if constexpr (std::is_same_v<T, double>)
    return Element::F64;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? Element::S8 : Element::U8;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? Element::S16 : Element::U16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? Element::S32 : Element::U32;
  else
    return std::is_signed_v<T> ? Element::S64 : Element::U64;
}

template <class T>
Arg scalar(const T& value) {
  return Scalar{bytes_of(std::span<const T>(&value, 1))};
}

template <class T>
Arg input(const std::vector<T>& values, Element element = element_of<T>()) {
  return Buffer{bytes_of(std::span<const T>(values)), Role::In, element};
}

inline constexpr size_t kGuardElements = 8;
inline constexpr std::byte kGuardByte{0xa5};

inline void append_guard(Bytes& bytes, Element element) {
  bytes.insert(bytes.end(), kGuardElements * element_size(element), kGuardByte);
}

/// `count` elements that the kernel writes; before the run they hold guard bytes.
template <class T>
Arg output(size_t count, Element element = element_of<T>()) {
  return Buffer{Bytes((count + kGuardElements) * sizeof(T), kGuardByte), Role::Out, element};
}

template <class T>
Arg in_out(const std::vector<T>& values, Element element = element_of<T>()) {
  Buffer buffer{bytes_of(std::span<const T>(values)), Role::InOut, element};
  append_guard(buffer.bytes, element);
  return buffer;
}

/// The value of scalar argument `index`.
template <class T>
T value_of(const KernelCase& kernel_case, size_t index) {
  T value;
  std::memcpy(&value, std::get<Scalar>(kernel_case.args[index]).bytes.data(), sizeof(T));
  return value;
}

/// Buffer `index` as elements, guard included. Vectors of std::byte are allocated by operator new and so
/// aligned for every T used here.
template <class T>
std::span<T> elements(std::vector<Bytes>& buffers, size_t index) {
  return {reinterpret_cast<T*>(buffers[index].data()), buffers[index].size() / sizeof(T)};
}

template <class T>
std::vector<T> random_integers(uint64_t seed, size_t count, int64_t low, int64_t high) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.integer(low, high));
  return values;
}

/// Random bits; the edge values (0, 1, -1, smallest, largest, powers of two) come first and are paired with
/// each other.
template <class T>
std::vector<T> random_bits(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.next() >> (random.next() % 8 * sizeof(T)));
  return values;
}

/// Pairs first[i], second[i]: all pairs of edge values, then random bits.
template <class T>
struct Pairs {
  std::vector<T> first, second;
};
template <class T>
Pairs<T> edge_pairs(uint64_t seed, size_t count) {
  using U = std::make_unsigned_t<T>;
  constexpr T low = static_cast<T>(U{1} << (sizeof(T) * 8 - 1)), high = static_cast<T>(~low);
  const std::array<T, 10> edges{0,
                                1,
                                static_cast<T>(-1),
                                2,
                                7,
                                static_cast<T>(-7),
                                high,
                                low,
                                static_cast<T>(low + 1),
                                static_cast<T>(high - 1)};
  Pairs<T> pairs{random_bits<T>(seed, count), random_bits<T>(seed + 1, count)};
  for (size_t i = 0; i < std::min(count, edges.size() * edges.size()); i++) {
    pairs.first[i] = edges[i / edges.size()];
    pairs.second[i] = edges[i % edges.size()];
  }
  return pairs;
}

inline std::vector<float> random_floats(uint64_t seed, size_t count, double low, double high) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.real(low, high));
  return values;
}

/// Multiples of `step` in [low, high]: sums and products of a few of them are exact in any order, fused or
/// not.
inline std::vector<float> random_steps(uint64_t seed, size_t count, double low, double high, double step) {
  Random random(seed);
  std::vector<float> values(count);
  const auto steps = static_cast<int64_t>((high - low) / step);
  for (float& value : values)
    value = static_cast<float>(low + step * static_cast<double>(random.integer(0, steps)));
  return values;
}

enum class Rounding : uint8_t { Nearest, Zero, Up, Down };

/// `value` rounded to a float or double in the given direction. long double holds every 64-bit integer.
float to_float(long double value, Rounding rounding);
double to_double(long double value, Rounding rounding);
/// `value` rounded to an integer in the given direction (nearest: ties to even).
long double to_integer(long double value, Rounding rounding);
/// `value` as IEEE binary16, denormals included; overflow follows IEEE for the rounding direction.
uint16_t to_half(double value, Rounding rounding = Rounding::Nearest);
double from_half(uint16_t bits);

/// to_integer, clamped to the range of T.
template <class T>
T saturated(long double value, Rounding rounding) {
  const long double whole = to_integer(value, rounding);
  const auto low = static_cast<long double>(std::numeric_limits<T>::min());
  const auto high = static_cast<long double>(std::numeric_limits<T>::max());
  if (whole <= low) return std::numeric_limits<T>::min();
  if (whole >= high) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

/// A case named after file and kernel, of work items in one dimension.
inline KernelCase of_items(const char* file, const char* kernel, uint32_t items, std::vector<Arg> args,
                           void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
  return {.name = std::string(file) + "." + kernel,
          .file = file,
          .kernel = kernel,
          .global = {items, 1, 1},
          .args = std::move(args),
          .reference = reference};
}

}  // namespace eum::kernels
