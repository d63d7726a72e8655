#include "tests/frontend/visa/lsc_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lsc_model {
namespace {

std::uint64_t get(const std::uint8_t* from, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}
void put(std::uint8_t* to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
std::uint64_t cut(std::uint64_t value, unsigned bytes) {
  return bytes == 8 ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
}
unsigned round_up_pow2(unsigned n) {
  unsigned p = 1;
  while (p < n) p *= 2;
  return p;
}
unsigned round_up(unsigned n, unsigned multiple) { return (n + multiple - 1) / multiple * multiple; }

/// An element in memory. nullptr: it is `outside` a bounded memory and reads 0, or the access faults.
struct Found {
  std::uint8_t* at = nullptr;
  bool outside = false;
};
Found find(Machine& machine, const Bounded* bounded, std::uint64_t address, unsigned bytes) {
  if (bounded != nullptr) {
    if (address > bounded->size || bytes > bounded->size - address) return {nullptr, true};
    return {machine.areas[bounded->area].bytes.data() + address, false};
  }
  for (Area& area : machine.areas)
    if (area.flat && address >= area.base && address - area.base + bytes <= area.bytes.size())
      return {area.bytes.data() + (address - area.base), false};
  return {};
}

std::uint64_t address_of(const Machine& machine, const Instruction& in, unsigned n) {
  const unsigned lane = in.strided ? 0 : n;
  std::uint64_t address =
      get(machine.registers.data() + in.addresses + lane * in.address_bytes, in.address_bytes);
  address = address * in.scale + static_cast<std::uint64_t>(in.offset);
  if (in.strided) address += n * in.pitch;
  return in.base + cut(address, in.address_bytes);
}

/// Offset in the register file of element v of channel n, from the start of the data.
unsigned place(const Machine& machine, const Instruction& in, unsigned n, unsigned v) {
  const unsigned bytes = register_bytes(in.data);
  if (in.transposed) return v * bytes;  // DstData[n].elems[v], n = 0
  return v * round_up(in.exec * bytes, machine.grf) + n * bytes;
}

// Half-precision floats, by their definition.
double half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023), sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}
std::uint64_t half_bits(double value) {
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (magnitude >= 65520) return sign | 0x7c00;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));  // ties to even
  return sign | (static_cast<std::uint64_t>(exponent + 14) * 1024 + static_cast<std::uint64_t>(units));
}

double number(std::uint64_t bits, unsigned bytes) {
  if (bytes == 2) return half(bits);
  if (bytes == 4) {
    float value;
    const auto narrow = static_cast<std::uint32_t>(bits);
    std::memcpy(&value, &narrow, 4);
    return value;
  }
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}
std::uint64_t number_bits(double value, unsigned bytes) {
  if (bytes == 2) return half_bits(value);
  if (bytes == 4) {
    const auto narrow = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  std::uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}
std::int64_t extend(std::uint64_t value, unsigned bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(value << unused) >> unused;
}
/// Comparison in which -0 is below 0.
bool below(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

std::uint64_t atomic(const std::string& op, std::uint64_t old, std::uint64_t a, std::uint64_t b,
                     unsigned bytes) {
  const double x = number(old, bytes), y = number(a, bytes);
  if (op == "iinc") return old + 1;
  if (op == "idec") return old - 1;
  if (op == "load") return old;
  if (op == "store") return a;
  if (op == "iadd") return old + a;
  if (op == "isub") return old - a;
  if (op == "smin") return extend(a, bytes) < extend(old, bytes) ? a : old;
  if (op == "smax") return extend(a, bytes) > extend(old, bytes) ? a : old;
  if (op == "umin") return std::min(a, old);
  if (op == "umax") return std::max(a, old);
  if (op == "icas") return old == a ? b : old;
  if (op == "and") return old & a;
  if (op == "or") return old | a;
  if (op == "xor") return old ^ a;
  if (op == "fadd") return number_bits(x + y, bytes);
  if (op == "fsub") return number_bits(x - y, bytes);
  if (op == "fmin") return std::isnan(x) || below(y, x) ? a : old;
  if (op == "fmax") return std::isnan(x) || below(x, y) ? a : old;
  return x == y ? b : old;  // fcas
}

}  // namespace

bool execute(Machine& machine, const Instruction& in) {
  using Kind = Instruction::Kind;
  const unsigned size = memory_bytes(in.data), unit = register_bytes(in.data);
  const bool high = in.data == Data::d16u32h;
  std::vector<std::uint8_t> registers = machine.registers;
  std::uint32_t status = 0;
  if (in.kind == Kind::Load && in.dst == Instruction::none) return true;
  for (unsigned n = 0; n < in.exec; ++n) {
    if ((in.mask >> n & 1) == 0) continue;
    const std::uint64_t address = address_of(machine, in, n);
    bool valid = true;
    unsigned m = 0;
    for (unsigned v = 0; v < (in.channels != 0 ? 4 : in.elements); ++v) {
      if (in.channels != 0 && (in.channels >> v & 1) == 0) continue;
      const Found found = find(machine, in.bounded, address + v * size, size);
      const unsigned at = place(machine, in, n, m++);
      if (in.kind == Kind::Status) {
        valid &= found.at != nullptr || found.outside;
        continue;
      }
      if (found.at == nullptr && !found.outside) return false;
      const auto source = [&](unsigned first) {
        const std::uint64_t value = get(machine.registers.data() + first + at, unit);
        return cut(high ? value >> 16 : value, size);
      };
      if (in.kind == Kind::Load) {
        const std::uint64_t value = found.outside ? 0 : get(found.at, size);
        put(registers.data() + in.dst + at, high ? value << 16 : value, unit);
      } else if (in.kind == Kind::Store) {
        if (!found.outside) put(found.at, source(in.source0), size);
      } else {
        const std::uint64_t old = found.outside ? 0 : get(found.at, size);
        const std::uint64_t a = in.source0 == Instruction::none ? 0 : source(in.source0);
        const std::uint64_t b = in.source1 == Instruction::none ? 0 : source(in.source1);
        if (!found.outside) put(found.at, cut(atomic(in.atomic, old, a, b, size), size), size);
        if (in.dst != Instruction::none) put(registers.data() + in.dst + at, old, unit);
      }
    }
    if (valid) status |= 1u << n;
  }
  if (in.kind == Kind::Status) put(registers.data() + in.dst, status, 4);
  machine.registers = registers;
  return true;
}

unsigned Block::bytes() const {
  const unsigned row = round_up_pow2(transpose ? height : width);
  return blocks * round_up(row * (transpose ? width : height) * element, grf);
}

bool execute(Machine& machine, const Block& in) {
  const int size = static_cast<int>(in.element);
  const int B = static_cast<int>(in.blocks), H = static_cast<int>(in.height), W = static_cast<int>(in.width);
  const int elems_per_dword = std::max(1, 4 / size), elems_per_reg = static_cast<int>(in.grf) / size;
  std::vector<std::uint8_t> registers = machine.registers;
  bool there = true;
  // Moves one element of the surface, at row Y + y and column X + b * W + x, to or from the registers.
  const auto move = [&](int offset, int b, int y, int x) {
    const std::int64_t row = std::int64_t{in.y} + y, column = std::int64_t{in.x} + b * W + x;
    std::uint8_t* const data = registers.data() + in.data + offset * size;
    const bool inside = row >= 0 && row <= in.surface_height && column >= 0 &&
                        (column + 1) * size <= std::int64_t{in.surface_width} + 1;
    if (!inside) {
      if (!in.store) put(data, 0, in.element);
      return;
    }
    const std::uint64_t address = in.base +
                                  static_cast<std::uint64_t>(row * (std::int64_t{in.surface_pitch} + 1)) +
                                  static_cast<std::uint64_t>(column * size);
    const Found found = find(machine, nullptr, address, in.element);
    if (found.at == nullptr) {
      there = false;
    } else if (in.store) {
      put(found.at, get(data, in.element), in.element);
    } else {
      put(data, get(found.at, in.element), in.element);
    }
  };
  const auto fill_grf_zeros = [&](int offset, int n) {
    for (int i = 0; i < n && !in.store; ++i)
      put(registers.data() + in.data + (offset + i) * size, 0, in.element);
  };
  const auto row_span = [&](int offset, int b, int y, int x, int n) {
    for (int i = 0; i < n; ++i) move(offset + i, b, y, x + i);
  };
  const auto col_span = [&](int offset, int b, int y, int x, int n) {
    for (int i = 0; i < n; ++i) move(offset + i, b, y + i, x);
  };
  const int grf_row_size = in.transpose ? H : W;
  const int grf_row_pitch = static_cast<int>(round_up_pow2(static_cast<unsigned>(grf_row_size)));
  const int grf_block_size = grf_row_pitch * (in.transpose ? W : H);
  const int grf_block_pitch = (grf_block_size + elems_per_reg - 1) / elems_per_reg * elems_per_reg;
  for (int b = 0; b < B; ++b) {
    const int block = b * grf_block_pitch;
    if (!in.transpose && !in.transform) {
      for (int y = 0; y < H; ++y) {
        row_span(block + y * grf_row_pitch, b, y, 0, W);
        fill_grf_zeros(block + y * grf_row_pitch + W, grf_row_pitch - W);
      }
    } else if (!in.transpose) {
      for (int y = 0; y < H; y += elems_per_dword) {
        for (int x = 0; x < W; ++x)
          col_span(block + y * grf_row_pitch + x * elems_per_dword, b, y, x, elems_per_dword);
        fill_grf_zeros(block + y * grf_row_pitch + W * elems_per_dword,
                       elems_per_dword * (grf_row_pitch - W));
      }
    } else if (!in.transform) {
      for (int x = 0; x < W; ++x) {
        col_span(block + x * grf_row_pitch, b, 0, x, H);
        fill_grf_zeros(block + x * grf_row_pitch + H, grf_row_pitch - H);
      }
    } else {
      for (int x = 0; x < W; x += elems_per_dword) {
        for (int y = 0; y < H; ++y)
          row_span(block + x * grf_row_pitch + y * elems_per_dword, b, y, x, elems_per_dword);
        fill_grf_zeros(block + x * grf_row_pitch + H * elems_per_dword,
                       elems_per_dword * (grf_row_pitch - H));
      }
    }
    fill_grf_zeros(block + grf_block_size, grf_block_pitch - grf_block_size);
  }
  if (there) machine.registers = registers;
  return there;
}

}  // namespace lsc_model
