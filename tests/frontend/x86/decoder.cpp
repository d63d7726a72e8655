// The decoder against the oracle, which uses no tables, over every prefix pair, VEX payload and ModRM byte;
// and round trips.
#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "frontend/x86/decoder.hpp"
#include "frontend/x86/encoder.hpp"
#include "frontend/x86/printer.hpp"
#include "tests/frontend/x86/oracle.hpp"

using namespace eum::x86;
using eum::x86::test::Oracle;
using eum::x86::test::oracle_decode;

namespace {

using Bytes = std::vector<std::uint8_t>;

int bits_of(Mode mode) { return mode == Mode::Bits16 ? 16 : mode == Mode::Bits32 ? 32 : 64; }

bool agrees(const Bytes& bytes, Mode mode) {
  Decoding d = decode(bytes, mode);
  Oracle o = oracle_decode(bytes, bits_of(mode));
  if (static_cast<int>(d.verdict) != static_cast<int>(o.kind)) return false;
  if (o.kind == Oracle::Undefined) return d.length == o.length && d.why != Undefined::None;
  if (o.kind != Oracle::Instruction) return true;
  const Instruction& i = d.instruction;
  bool same = d.length == o.length && i.is_read() == o.read && i.is_immediate() == o.immediate &&
              i.is_user() == !o.privileged && i.needs_apx() == o.apx && i.data == o.data;
  return same && (o.immediate ? i.msr == o.msr : i.index == o.index);
}

/// Compares decoder and oracle on the bytes and counts; the first difference fails the test with the bytes.
struct Comparison {
  std::size_t cases = 0, instructions = 0;
  void operator()(const Bytes& bytes, Mode mode) {
    ++cases;
    if (!agrees(bytes, mode)) {
      std::string text;
      for (std::uint8_t b : bytes) text += fmt::format("{:02x} ", b);
      INFO(text << "in " << bits_of(mode) << "-bit mode: decoder verdict "
                << static_cast<int>(decode(bytes, mode).verdict) << ", oracle "
                << oracle_decode(bytes, bits_of(mode)).kind);
      REQUIRE(agrees(bytes, mode));
    }
    instructions += decode(bytes, mode).verdict == Verdict::Instruction;
  }
};

constexpr Mode modes[] = {Mode::Bits16, Mode::Bits32, Mode::Bits64};
static_assert(static_cast<int>(Verdict::TooLong) == Oracle::TooLong &&
              static_cast<int>(Verdict::Foreign) == Oracle::Foreign);

}  // namespace

TEST_CASE("every pair of prefix bytes x opcode x ModRM agrees with the oracle") {
  Comparison compare;
  // The tail is long enough for any memory operand.
  Bytes bytes{0, 0, 0x0f, 0x38, 0xf8, 0, 0x25, 1, 2, 3, 4, 5, 6, 7, 8};
  for (Mode mode : modes)
    for (unsigned pair = 0; pair < 0x10000; ++pair)
      for (unsigned modrm = 0; modrm < 256; modrm += EUMULATE_STEP) {
        bytes[0] = static_cast<std::uint8_t>(pair >> 8);
        bytes[1] = static_cast<std::uint8_t>(pair);
        bytes[5] = static_cast<std::uint8_t>(modrm);
        compare(bytes, mode);
      }
  if (EUMULATE_STEP != 1) return;
  CHECK(compare.cases == 3u * 65536 * 256);
  // 64-bit mode, mod 11: 64 ModRM bytes after each pair that contains F2 or F3 and no LOCK.
  std::size_t pairs = 0;
  const Bytes segment_like{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67};
  pairs += 2 * 2;                        // F2/F3 F2/F3
  pairs += 2 * 2 * segment_like.size();  // F2/F3 and an ignored prefix, both orders
  pairs += 2 * 2 * 16;                   // F2/F3 and REX, both orders
  CHECK(compare.instructions == pairs * 64);
}

TEST_CASE("every VEX payload x ModRM agrees with the oracle") {
  Comparison compare;
  Bytes bytes{0xc4, 0, 0, 0, 0, 0x25, 0x80, 0xfe, 0xff, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc};
  constexpr unsigned payload_step = EUMULATE_STEP == 1 ? 1 : 61;  // odd, so each bit takes both values
  for (Mode mode : modes)
    for (unsigned opcode : {0xf8u, 0xf6u})
      for (unsigned payload = 0; payload < 0x10000; payload += payload_step)
        for (unsigned modrm = 0; modrm < 256; ++modrm) {
          bytes[1] = static_cast<std::uint8_t>(payload >> 8);
          bytes[2] = static_cast<std::uint8_t>(payload);
          bytes[3] = static_cast<std::uint8_t>(opcode);
          bytes[4] = static_cast<std::uint8_t>(modrm);
          compare(bytes, mode);
        }
  // R and X are ignored, B and rm select the register, pp the direction; W, L, vvvv are fixed.
  if (payload_step == 1) CHECK(compare.instructions == 2u * (2 * 2) * (2 * 8) * 2);
}

TEST_CASE("every VEX opcode, and prefix pairs before VEX, agree with the oracle") {
  Comparison compare;
  Bytes bytes{0xc4, 0xe7, 0, 0, 0xc3, 0x80, 0xfe, 0xff, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde};
  for (Mode mode : modes)
    for (unsigned payload = 0; payload < 256; ++payload)
      for (unsigned opcode = 0; opcode < 256; ++opcode) {
        bytes[2] = static_cast<std::uint8_t>(payload);
        bytes[3] = static_cast<std::uint8_t>(opcode);
        compare(bytes, mode);
      }
  for (Mode mode : modes)
    for (unsigned pair = 0; pair < 0x10000; ++pair)
      for (std::uint8_t payload : Bytes{0x7a, 0x7b, 0xfa, 0x7f, 0x73}) {
        Bytes prefixed{static_cast<std::uint8_t>(pair >> 8),
                       static_cast<std::uint8_t>(pair),
                       0xc4,
                       0xc7,
                       payload,
                       0xf8,
                       0xc5,
                       1,
                       2,
                       3,
                       4};
        compare(prefixed, mode);
      }
  CHECK(compare.instructions > 0);
}

TEST_CASE("VEX map 5, where AMX-FP8 is, is another decoder's; maps that no instruction has are #UD") {
  // tdpbf8ps tmm1, tmm2, tmm3
  CHECK(decode(Bytes{0xc4, 0xe5, 0x60, 0xfd, 0xca}, Mode::Bits64).verdict == Verdict::Foreign);
  for (unsigned map = 0; map < 32; ++map)
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      Bytes bytes{
          0xc4, static_cast<std::uint8_t>(0xe0 | map), 0x7b, static_cast<std::uint8_t>(opcode), 0xc0, 1, 0, 0,
          0};
      const bool is_defined = map == 1 || map == 2 || map == 3 || map == 5;
      const Decoding d = decode(bytes, Mode::Bits64);
      if (map != 7) REQUIRE((d.verdict == Verdict::Foreign) == is_defined);
      if (map != 7 && !is_defined) REQUIRE(d.why == Undefined::ReservedMap);
    }
}

TEST_CASE("every EVEX payload of maps 4 and 7 x ModRM agrees with the oracle") {
  Comparison compare;
  Bytes bytes{0x62, 0, 0, 0, 0, 0, 0x25, 0x80, 0xfe, 0xff, 0x12, 0x34, 0x56, 0x78, 0x9a};
  const Bytes modrms{0x00, 0x04, 0x05, 0x44, 0x85, 0xbf, 0xc0, 0xc3, 0xc8, 0xd5, 0xff};
  const Bytes last_payloads{0x00, 0x08, 0x09, 0x0a, 0x0c, 0x18, 0x28, 0x48, 0x88, 0xff};
  for (Mode mode : modes)
    for (unsigned opcode : {0xf8u, 0xf6u})
      for (unsigned payload = 0; payload < 0x10000; payload += EUMULATE_STEP)
        for (std::uint8_t last : last_payloads)
          for (std::uint8_t modrm : modrms) {
            bytes[1] = static_cast<std::uint8_t>(payload >> 8);
            bytes[2] = static_cast<std::uint8_t>(payload);
            bytes[3] = last;
            bytes[4] = static_cast<std::uint8_t>(opcode);
            bytes[5] = modrm;
            compare(bytes, mode);
          }
  // Register operands: 5 of the ModRM bytes for map 4; 2 of them have reg = 0, as map 7 requires, with either
  // opcode. The high five bits except X3 select registers, pp the direction.
  if (EUMULATE_STEP == 1) CHECK(compare.instructions == 32u * 2 * (5 + 2 * 2));
  // The last payload byte and the opcode; and prefixes before the instruction.
  for (Mode mode : modes)
    for (std::uint8_t map : Bytes{0xf4, 0xf7, 0x0c, 0xf2})
      for (unsigned last = 0; last < 256; ++last)
        for (unsigned opcode = 0; opcode < 256; ++opcode) {
          bytes = {
              0x62, map, 0x7f, static_cast<std::uint8_t>(last), static_cast<std::uint8_t>(opcode), 0xc1, 1,
              2,    3,   4};
          compare(bytes, mode);
        }
  for (Mode mode : modes)
    for (std::uint8_t map : Bytes{0xf4, 0xf7})
      for (unsigned pair = 0; pair < 0x10000; ++pair)
        compare({static_cast<std::uint8_t>(pair >> 8), static_cast<std::uint8_t>(pair), 0x62, map, 0x7e, 0x08,
                 0xf8, 0xc5, 1, 2, 3, 4},
                mode);
}

TEST_CASE("without APX an EVEX prefix is another's at its first byte, and nothing else changes") {
  CHECK(decode_without_apx(Bytes{0x62}).verdict == Verdict::Foreign);
  CHECK(decode_without_apx(Bytes{0x2e, 0x62}).verdict == Verdict::Foreign);
  CHECK(decode_without_apx(Bytes{0x62, 0xfc, 0x7f, 0x08, 0xf8, 0xd6}).verdict == Verdict::Foreign);
  for (const Bytes& bytes :
       {Bytes{0xf2, 0x0f, 0x38, 0xf8, 0xd0}, Bytes{0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 1, 0, 0, 0}}) {
    CHECK(decode_without_apx(bytes).verdict == Verdict::Instruction);
    CHECK(decode_without_apx(bytes).instruction == decode(bytes, Mode::Bits64).instruction);
  }
}

TEST_CASE("truncation at every length, and the limit of 15 bytes, agree with the oracle") {
  Comparison compare;
  const std::vector<Bytes> tails{{0x0f, 0x38, 0xf8, 0xc8},
                                 {0x0f, 0x38, 0xf8, 0x84, 0x25, 1, 2, 3, 4},
                                 {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 1, 2, 3, 4},
                                 {0xc4, 0xe7, 0x7b, 0xf8, 0x84, 0x25, 9, 9, 9, 9, 1, 2, 3, 4},
                                 {0x62, 0xec, 0x7f, 0x08, 0xf8, 0xf5},
                                 {0x62, 0xff, 0x7e, 0x08, 0xf6, 0xc4, 1, 2, 3, 4},
                                 {0x62, 0xff, 0x7e, 0x08, 0xf8, 0x84, 0x25, 9, 9, 9, 9, 1, 2, 3, 4},
                                 {0x90}};
  const Bytes prefixes{0xf2, 0xf3, 0x66, 0x67, 0x2e, 0x48, 0x41, 0xf0};
  for (Mode mode : modes)
    for (const Bytes& tail : tails)
      for (std::uint8_t a : prefixes)
        for (std::uint8_t b : prefixes)
          for (unsigned count = 0; count <= 17; ++count) {
            Bytes whole(count, a);
            if (count) whole.back() = b;
            whole.insert(whole.end(), tail.begin(), tail.end());
            for (std::size_t length = 0; length <= whole.size(); ++length)
              compare(Bytes(whole.begin(), whole.begin() + static_cast<long>(length)), mode);
          }
  CHECK(compare.instructions > 0);
}

TEST_CASE("verdicts that the document and the manual spell out") {
  struct Case {
    Bytes bytes;
    Mode mode;
    Verdict verdict;
    Undefined why;
    unsigned length;
    const char* text;
  };
  // Encodings as in binutils' test for user_msr.
  const std::vector<Case> cases{
      {{0xf2, 0x45, 0x0f, 0x38, 0xf8, 0xf4},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "urdmsr r12, r14"},
      {{0xf2, 0x0f, 0x38, 0xf8, 0xd0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       5,
       "urdmsr rax, rdx"},
      {{0xc4, 0xc7, 0x7b, 0xf8, 0xc4, 0x0f, 0x0f, 0x12, 0x03},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       9,
       "urdmsr r12, 0x3120f0f"},
      {{0xf3, 0x44, 0x0f, 0x38, 0xf8, 0xf0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "uwrmsr r14, rax"},
      {{0xc4, 0xe7, 0x7a, 0xf8, 0xc0, 0x0f, 0x0f, 0x12, 0x03},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       9,
       "uwrmsr 0x3120f0f, rax"},
      {{0xc4, 0xe7, 0x7b, 0xf6, 0xc1, 0x10, 0, 0, 0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       9,
       "rdmsr rcx, 0x10"},
      {{0xc4, 0xc7, 0x7a, 0xf6, 0xc1, 0x10, 0, 0, 0x80},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       9,
       "wrmsrns 0x80000010, r9"},
      {{0xf2, 0x0f, 0x38, 0xf8, 0xd0}, Mode::Bits32, Verdict::Undefined, Undefined::Not64Bit, 5, ""},
      {{0xf0, 0xf2, 0x0f, 0x38, 0xf8, 0xd0}, Mode::Bits64, Verdict::Undefined, Undefined::Lock, 6, ""},
      {{0x66, 0x0f, 0x38, 0xf8, 0xd0}, Mode::Bits64, Verdict::Undefined, Undefined::NoOpcode, 5, ""},
      {{0xf2, 0x0f, 0x38, 0xf8, 0x10}, Mode::Bits64, Verdict::Foreign, Undefined::None, 0, ""},  // ENQCMD
      {{0x48, 0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 1, 0, 0, 0},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::LegacyPrefix,
       10,
       ""},
      {{0xc4, 0xe7, 0xfb, 0xf8, 0xc0, 1, 0, 0, 0},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::OperandSize,
       9,
       ""},
      {{0xc4, 0xe7, 0x7f, 0xf8, 0xc0, 1, 0, 0, 0},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::VectorLength,
       9,
       ""},
      {{0xc4, 0xe7, 0x73, 0xf8, 0xc0, 1, 0, 0, 0}, Mode::Bits64, Verdict::Undefined, Undefined::Vvvv, 9, ""},
      {{0xc4, 0xe7, 0x7b, 0xf8, 0xc8, 1, 0, 0, 0},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::OpcodeExtension,
       9,
       ""},
      {{0xc4, 0xe7, 0x7b, 0xf8, 0x00, 1, 0, 0, 0},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::MemoryOperand,
       9,
       ""},
      {{0xc4, 0xe0, 0x7b}, Mode::Bits64, Verdict::Undefined, Undefined::ReservedMap, 3, ""},
      {{0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 1, 0, 0}, Mode::Bits64, Verdict::Truncated, Undefined::None, 0, ""},
      {{0xf2}, Mode::Bits64, Verdict::Truncated, Undefined::None, 0, ""},
      {{}, Mode::Bits64, Verdict::Truncated, Undefined::None, 0, ""},
      {Bytes(15, 0x2e), Mode::Bits64, Verdict::TooLong, Undefined::None, 0, ""},
      // From the document: a REX followed by a legacy prefix is ignored.
      {{0x45, 0xf2, 0x0f, 0x38, 0xf8, 0xd0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "urdmsr rax, rdx"},
      {{0xf3, 0xf2, 0x0f, 0x38, 0xf8, 0xd0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "urdmsr rax, rdx"},
      {{0x67, 0x2e, 0xf2, 0x66, 0x49, 0x0f, 0x38, 0xf8, 0xd0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       9,
       "urdmsr r8, rdx"},
      {{0x67, 0x64, 0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 1, 0, 0, 0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       11,
       "urdmsr rax, 0x1"},
      // EVEX, as in binutils' tests for user_msr and in XED.
      {{0x62, 0x64, 0x7f, 0x08, 0xf8, 0xc0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "urdmsr rax, r24"},
      {{0x62, 0xfc, 0x7f, 0x08, 0xf8, 0xd6},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "urdmsr r22, rdx"},
      {{0x62, 0x64, 0x7e, 0x08, 0xf8, 0xc0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "uwrmsr r24, rax"},
      {{0x62, 0xfc, 0x7e, 0x08, 0xf8, 0xd6},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       6,
       "uwrmsr rdx, r22"},
      {{0x62, 0xff, 0x7f, 0x08, 0xf8, 0xc6, 0, 0, 0, 0x80},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       10,
       "urdmsr r22, 0x80000000"},
      {{0x62, 0xff, 0x7e, 0x08, 0xf8, 0xc6, 0, 0, 0, 0x80},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       10,
       "uwrmsr 0x80000000, r22"},
      {{0x62, 0xd7, 0x7f, 0x08, 0xf6, 0xc1, 0x7b, 0, 0, 0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       10,
       "rdmsr r9, 0x7b"},
      {{0x62, 0xff, 0x7e, 0x08, 0xf6, 0xc3, 0x7b, 0, 0, 0},
       Mode::Bits64,
       Verdict::Instruction,
       Undefined::None,
       10,
       "wrmsrns 0x7b, r19"},
      {{0x66, 0x62, 0xfc, 0x7f, 0x08, 0xf8, 0xd6},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::LegacyPrefix,
       7,
       ""},
      {{0x62, 0xfc, 0x7f, 0x08, 0xf8, 0xd6}, Mode::Bits32, Verdict::Undefined, Undefined::Not64Bit, 6, ""},
      {{0x62, 0xfc, 0x7f, 0x28, 0xf8, 0xd6},
       Mode::Bits64,
       Verdict::Undefined,
       Undefined::VectorLength,
       6,
       ""},
      {{0x62, 0xfc, 0xff, 0x08, 0xf8, 0xd6}, Mode::Bits64, Verdict::Undefined, Undefined::OperandSize, 6, ""},
      {{0x62, 0xfc, 0x7f, 0x00, 0xf8, 0xd6}, Mode::Bits64, Verdict::Undefined, Undefined::Vvvv, 6, ""},
      {{0x62, 0xfc, 0x77, 0x08, 0xf8, 0xd6}, Mode::Bits64, Verdict::Undefined, Undefined::Vvvv, 6, ""},
      {{0x62, 0xfc, 0x7f, 0x18, 0xf8, 0xd6}, Mode::Bits64, Verdict::Undefined, Undefined::EvexField, 6, ""},
      {{0x62, 0xfc, 0x7f, 0x0c, 0xf8, 0xd6}, Mode::Bits64, Verdict::Undefined, Undefined::EvexField, 6, ""},
      {{0x62, 0xfc, 0x7b, 0x08, 0xf8, 0xd6}, Mode::Bits64, Verdict::Undefined, Undefined::EvexField, 6, ""},
      {{0x62, 0xfc, 0x7f, 0x08, 0xf8, 0x16},
       Mode::Bits64,
       Verdict::Foreign,
       Undefined::None,
       0,
       ""},  // ENQCMD
      {{0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1},
       Mode::Bits64,
       Verdict::Foreign,
       Undefined::None,
       0,
       ""},                                                                    // VADDPS
      {{0x62, 0x05}, Mode::Bits32, Verdict::Foreign, Undefined::None, 0, ""},  // BOUND
  };
  for (const Case& c : cases) {
    Decoding d = decode(c.bytes, c.mode);
    std::string bytes;
    for (std::uint8_t b : c.bytes) bytes += fmt::format("{:02x} ", b);
    INFO(bytes << describe(d.why));
    CHECK(d.verdict == c.verdict);
    CHECK(d.why == c.why);
    CHECK(unsigned{d.length} == c.length);
    if (c.verdict == Verdict::Instruction) CHECK(print(d.instruction) == c.text);
  }
}

TEST_CASE("encode and decode are inverse for every form and register") {
  for (std::size_t form = 0; form < form_count; ++form)
    for (unsigned data = 0; data < gpr_count; ++data)
      for (unsigned index = 0; index < gpr_count; ++index)
        for (std::uint32_t msr : {0u, 0x10u, 0x3fffu, 0x4000u, 0x80000000u, 0xffffffffu}) {
          Instruction instruction{static_cast<Form>(form), static_cast<std::uint8_t>(data)};
          if (instruction.is_immediate())
            instruction.msr = msr;
          else
            instruction.index = static_cast<std::uint8_t>(index);
          Encoded encoded = encode(instruction);
          if (!exists(instruction)) {
            REQUIRE(encoded.length == 0);
            continue;
          }
          Decoding d = decode(encoded.view(), Mode::Bits64);
          REQUIRE(d.verdict == Verdict::Instruction);
          REQUIRE(d.length == encoded.length);
          REQUIRE(d.instruction == instruction);
        }
}

TEST_CASE("the bitmap has one bit for each MSR and direction") {
  CHECK(bitmap_byte(0, Access::Read) == 0);
  CHECK(bitmap_byte(0x3fff, Access::Read) == 2047);
  CHECK(bitmap_byte(0, Access::Write) == 2048);
  CHECK(bitmap_byte(0x3fff, Access::Write) == 4095);
}
