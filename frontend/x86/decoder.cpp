// The decoder: prefixes, opcode, ModRM, immediate, then the conditions of #UD.
// It owns the prefix rules and must not know what an instruction does.
#include "frontend/x86/decoder.hpp"

#include <optional>

namespace eum::x86 {
namespace {

/// Reads bytes up to the instruction length limit and records which limit was reached.
class Fetcher {
 public:
  explicit Fetcher(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::optional<std::uint8_t> next() {
    if (!require(1)) return std::nullopt;
    return bytes_[position_++];
  }
  bool skip(std::size_t count) {
    if (!require(count)) return false;
    position_ += count;
    return true;
  }
  std::optional<std::uint32_t> next_u32() {
    if (!require(4)) return std::nullopt;
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{bytes_[position_++]} << (8 * i);
    return value;
  }
  std::uint8_t position() const { return static_cast<std::uint8_t>(position_); }
  /// The result to return after a failed fetch.
  Decoding failure() const { return {.verdict = failure_}; }

 private:
  bool require(std::size_t count) {
    // Bytes are fetched one by one: if fewer than max_length are available, running out of them comes first.
    if (position_ + count > max_length && bytes_.size() >= max_length) {
      failure_ = Verdict::TooLong;
      return false;
    }
    return position_ + count <= bytes_.size();
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  Verdict failure_ = Verdict::Truncated;
};

struct Prefixes {
  Prefix repeat = Prefix::None;  ///< the last of F2 and F3
  bool lock = false;
  bool operand_size = false;
  bool address_size = false;
  std::uint8_t rex = 0;  ///< 0 = none; only a REX directly before the opcode counts

  /// Whether there is a prefix, LOCK aside, that must not precede VEX or EVEX.
  bool before_vex() const { return repeat != Prefix::None || operand_size || rex != 0; }
};

/// Consumes prefixes; returns the first byte that is not one.
std::optional<std::uint8_t> fetch_prefixes(Fetcher& fetch, Mode mode, Prefixes& prefixes) {
  for (;;) {
    std::optional<std::uint8_t> byte = fetch.next();
    if (!byte) return std::nullopt;
    if (mode == Mode::Bits64 && (*byte & 0xf0) == 0x40) {
      prefixes.rex = *byte;
      continue;
    }
    switch (*byte) {
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x64:
      case 0x65:  // segment overrides: ignored
        break;
      case 0x66:
        prefixes.operand_size = true;
        break;
      case 0x67:
        prefixes.address_size = true;
        break;
      case 0xf0:
        prefixes.lock = true;
        break;
      case 0xf2:
        prefixes.repeat = Prefix::F2;
        break;
      case 0xf3:
        prefixes.repeat = Prefix::F3;
        break;
      default:
        return byte;
    }
    prefixes.rex = 0;  // a legacy prefix after REX makes REX void
  }
}

/// Skips SIB and displacement of a memory operand.
bool skip_memory_operand(Fetcher& fetch, std::uint8_t modrm, Mode mode, bool address_size) {
  unsigned mod = modrm >> 6, rm = modrm & 7;
  if (mod == 3) return true;
  bool is_16_bit = mode != Mode::Bits64 && (mode == Mode::Bits16) != address_size;
  if (is_16_bit) return fetch.skip(mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
  unsigned base = rm;
  if (rm == 4) {
    std::optional<std::uint8_t> sib = fetch.next();
    if (!sib) return false;
    base = *sib & 7;
  }
  return fetch.skip(mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
}

std::optional<Form> find_form(Encoding encoding, Prefix prefix, std::uint8_t opcode) {
  for (std::size_t i = 0; i < form_count; ++i) {
    const FormInfo& form = form_table[i];
    if (form.encoding == encoding && form.prefix == prefix && form.opcode == opcode)
      return static_cast<Form>(i);
  }
  return std::nullopt;
}

Decoding undefined(const Fetcher& fetch, Undefined why) {
  return {.verdict = Verdict::Undefined, .why = why, .length = fetch.position()};
}

/// After 0F. Legacy forms share opcode 0F 38 F8 with MOVDIR64B (66) and ENQCMD (F2, F3), which take memory.
Decoding decode_legacy(Fetcher& fetch, Mode mode, const Prefixes& prefixes) {
  std::optional<std::uint8_t> escape = fetch.next();
  if (!escape) return fetch.failure();
  if (*escape != 0x38) return {.verdict = Verdict::Foreign};
  std::optional<std::uint8_t> opcode = fetch.next();
  if (!opcode) return fetch.failure();
  if (*opcode != 0xf8) return {.verdict = Verdict::Foreign};
  std::optional<std::uint8_t> modrm = fetch.next();
  if (!modrm) return fetch.failure();
  bool is_register = *modrm >> 6 == 3;
  // F2 and F3 take precedence over 66 as mandatory prefix.
  Prefix prefix = prefixes.repeat != Prefix::None ? prefixes.repeat
                  : prefixes.operand_size         ? Prefix::P66
                                                  : Prefix::None;
  if (!is_register && prefix != Prefix::None) return {.verdict = Verdict::Foreign};
  if (!skip_memory_operand(fetch, *modrm, mode, prefixes.address_size)) return fetch.failure();
  std::optional<Form> form = find_form(Encoding::Legacy, prefix, *opcode);
  if (!form) return undefined(fetch, Undefined::NoOpcode);
  if (prefixes.lock) return undefined(fetch, Undefined::Lock);
  if (mode != Mode::Bits64) return undefined(fetch, Undefined::Not64Bit);
  Decoding decoding{.verdict = Verdict::Instruction, .length = fetch.position()};
  decoding.instruction.form = *form;
  decoding.instruction.index = static_cast<std::uint8_t>((*modrm >> 3 & 7) | (prefixes.rex & 4 ? 8 : 0));
  decoding.instruction.data = static_cast<std::uint8_t>((*modrm & 7) | (prefixes.rex & 1 ? 8 : 0));
  return decoding;
}

/// Map 5 is that of AMX.
constexpr bool is_vex_map(unsigned map) { return map == 1 || map == 2 || map == 3 || map == 5 || map == 7; }

/// After C4. Outside 64-bit mode C4 is VEX only where LES would have a register operand.
Decoding decode_vex(Fetcher& fetch, Mode mode, const Prefixes& prefixes) {
  std::optional<std::uint8_t> first = fetch.next();
  if (!first) return fetch.failure();
  if (mode != Mode::Bits64 && *first >> 6 != 3) return {.verdict = Verdict::Foreign};
  std::optional<std::uint8_t> second = fetch.next();
  if (!second) return fetch.failure();
  unsigned map = *first & 0x1f;
  if (!is_vex_map(map)) return undefined(fetch, Undefined::ReservedMap);
  if (map != 7) return {.verdict = Verdict::Foreign};
  std::optional<std::uint8_t> opcode = fetch.next();
  if (!opcode) return fetch.failure();
  std::optional<Form> form = find_form(Encoding::Vex, static_cast<Prefix>(*second & 3), *opcode);
  if (!form) return undefined(fetch, Undefined::NoOpcode);
  std::optional<std::uint8_t> modrm = fetch.next();
  if (!modrm || !skip_memory_operand(fetch, *modrm, mode, prefixes.address_size)) return fetch.failure();
  std::optional<std::uint32_t> immediate = fetch.next_u32();
  if (!immediate) return fetch.failure();

  if (prefixes.before_vex()) return undefined(fetch, Undefined::LegacyPrefix);
  if (prefixes.lock) return undefined(fetch, Undefined::Lock);
  if (mode != Mode::Bits64) return undefined(fetch, Undefined::Not64Bit);
  if (*modrm >> 6 != 3) return undefined(fetch, Undefined::MemoryOperand);
  if ((*modrm >> 3 & 7) != 0) return undefined(fetch, Undefined::OpcodeExtension);
  if (*second & 0x04) return undefined(fetch, Undefined::VectorLength);
  if (*second & 0x80) return undefined(fetch, Undefined::OperandSize);
  if ((*second >> 3 & 15) != 15) return undefined(fetch, Undefined::Vvvv);
  Decoding decoding{.verdict = Verdict::Instruction, .length = fetch.position()};
  decoding.instruction.form = *form;
  // VEX.R extends ModRM.reg, which is an opcode extension here, and VEX.X an index that is absent: both
  // ignored.
  decoding.instruction.data = static_cast<std::uint8_t>((*modrm & 7) | (*first & 0x20 ? 0 : 8));
  decoding.instruction.msr = *immediate;
  return decoding;
}

/// After 62. Outside 64-bit mode 62 is EVEX only where BOUND would have a register operand. Encodings that
/// are not one of the forms belong to other instructions: maps 4 and 7 are shared.
Decoding decode_evex(Fetcher& fetch, Mode mode, const Prefixes& prefixes) {
  constexpr unsigned map_promoted = 4, map_immediate = 7;
  std::optional<std::uint8_t> p0 = fetch.next();
  if (!p0) return fetch.failure();
  const unsigned map = *p0 & 7;
  if (mode != Mode::Bits64 && *p0 >> 6 != 3) return {.verdict = Verdict::Foreign};
  if (map != map_promoted && map != map_immediate) return {.verdict = Verdict::Foreign};
  std::optional<std::uint8_t> p1 = fetch.next(), p2 = fetch.next(), opcode = fetch.next();
  if (!p1 || !p2 || !opcode) return fetch.failure();
  const Encoding encoding = map == map_promoted ? Encoding::EvexMap4 : Encoding::EvexMap7;
  std::optional<Form> form = find_form(encoding, static_cast<Prefix>(*p1 & 3), *opcode);
  if (!form) return {.verdict = Verdict::Foreign};
  std::optional<std::uint8_t> modrm = fetch.next();
  if (!modrm) return fetch.failure();
  const bool is_memory = *modrm >> 6 != 3;
  if (is_memory && encoding == Encoding::EvexMap4) return {.verdict = Verdict::Foreign};  // ENQCMD, ENQCMDS
  if (!skip_memory_operand(fetch, *modrm, mode, prefixes.address_size)) return fetch.failure();
  std::optional<std::uint32_t> immediate = 0;
  if (encoding == Encoding::EvexMap7) immediate = fetch.next_u32();
  if (!immediate) return fetch.failure();

  if (prefixes.before_vex()) return undefined(fetch, Undefined::LegacyPrefix);
  if (prefixes.lock) return undefined(fetch, Undefined::Lock);
  if (mode != Mode::Bits64) return undefined(fetch, Undefined::Not64Bit);
  if (is_memory) return undefined(fetch, Undefined::MemoryOperand);
  const unsigned reg = *modrm >> 3 & 7;
  if (encoding == Encoding::EvexMap7 && reg != 0) return undefined(fetch, Undefined::OpcodeExtension);
  if (*p2 & 0x60) return undefined(fetch, Undefined::VectorLength);
  if (*p1 & 0x80) return undefined(fetch, Undefined::OperandSize);
  if ((*p1 >> 3 & 15) != 15 || !(*p2 & 0x08)) return undefined(fetch, Undefined::Vvvv);
  if (*p2 & 0x97 || !(*p1 & 0x04)) return undefined(fetch, Undefined::EvexField);
  Decoding decoding{.verdict = Verdict::Instruction, .length = fetch.position()};
  decoding.instruction.form = *form;
  // EVEX.X3 would extend an index, which is absent, and in map 7 R3 and R4 an opcode extension: ignored.
  decoding.instruction.data =
      static_cast<std::uint8_t>((*modrm & 7) | (*p0 & 0x20 ? 0 : 8) | (*p0 & 0x08 ? 16 : 0));
  if (encoding == Encoding::EvexMap4)
    decoding.instruction.index =
        static_cast<std::uint8_t>(reg | (*p0 & 0x80 ? 0 : 8) | (*p0 & 0x10 ? 0 : 16));
  decoding.instruction.msr = *immediate;
  return decoding;
}

Decoding decode(std::span<const std::uint8_t> bytes, Mode mode, bool knows_apx) {
  Fetcher fetch(bytes);
  Prefixes prefixes;
  std::optional<std::uint8_t> opcode = fetch_prefixes(fetch, mode, prefixes);
  if (!opcode) return fetch.failure();
  if (*opcode == 0x0f) return decode_legacy(fetch, mode, prefixes);
  if (*opcode == 0xc4) return decode_vex(fetch, mode, prefixes);
  if (*opcode == 0x62 && knows_apx) return decode_evex(fetch, mode, prefixes);
  return {.verdict = Verdict::Foreign};
}

}  // namespace

Decoding decode(std::span<const std::uint8_t> bytes, Mode mode) { return decode(bytes, mode, true); }

Decoding decode_without_apx(std::span<const std::uint8_t> bytes) {
  return decode(bytes, Mode::Bits64, false);
}

std::string_view describe(Undefined why) {
  switch (why) {
    case Undefined::None:
      return "defined";
    case Undefined::NoOpcode:
      return "no instruction has this prefix and opcode";
    case Undefined::ReservedMap:
      return "VEX.mmmmm names no opcode map";
    case Undefined::LegacyPrefix:
      return "66, F2, F3 or REX before a VEX or EVEX prefix";
    case Undefined::Lock:
      return "LOCK prefix";
    case Undefined::Not64Bit:
      return "the instruction exists in 64-bit mode only";
    case Undefined::MemoryOperand:
      return "ModRM.mod must be 11b";
    case Undefined::OpcodeExtension:
      return "ModRM.reg must be 000b";
    case Undefined::VectorLength:
      return "VEX.L and EVEX.L'L must be 0";
    case Undefined::OperandSize:
      return "VEX.W and EVEX.W must be 0";
    case Undefined::Vvvv:
      return "VEX.vvvv must be 1111b, EVEX.V4 1";
    case Undefined::EvexField:
      return "EVEX.z, ND, NF and aa must be 0, X4 must be 1";
  }
  return "unknown";
}

}  // namespace eum::x86
