// What single instructions decode to, field by field, and how bad input is reported.
#include <catch2/catch.hpp>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {
namespace {

/// Converts "40 00 ..." to bytes.
std::vector<std::byte> bytes(std::string_view hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 3)
    out.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

Instruction decoded(std::string_view hex, Family family = Family::Gen9) {
  const Result<Instruction> i = decode(bytes(hex), 0, family);
  if (!i) FAIL(i.error().message);
  return *i;
}

std::string rejected(std::vector<std::byte> code, std::size_t offset = 0, Family family = Family::Gen9) {
  const Result<Instruction> i = decode(code, offset, family);
  REQUIRE_FALSE(i);
  return i.error().message;
}

/// The bytes of `hex` with bits hi:lo set to `value`.
std::vector<std::byte> with(std::string_view hex, unsigned hi, unsigned lo, unsigned value) {
  std::vector<std::byte> out = bytes(hex);
  for (unsigned bit = lo; bit <= hi; ++bit) {
    const std::byte mask = static_cast<std::byte>(1u << (bit % 8));
    out[bit / 8] = (out[bit / 8] & ~mask) | (value >> (bit - lo) & 1 ? mask : std::byte{0});
  }
  return out;
}

bool contains_all(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (text.find(part) == std::string::npos) {
      UNSCOPED_INFO(text << " lacks " << part);
      return false;
    }
  return true;
}

constexpr std::string_view add_reg = "40 00 80 00 e8 3a 80 20 20 00 00 3a 30 40 00 00";  // see the first test
constexpr std::string_view nop = "7e 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";

}  // namespace

TEST_CASE("direct operands: types, regions, sub-registers in bytes, modifiers") {
  // add (16|M0) r4.0<1>:f r1.0<0;1,0>:f -r1.4<0;1,0>:f
  const Instruction i = decoded(add_reg);
  CHECK(i.opcode == Opcode::add);
  CHECK(i.exec_size == 16);
  CHECK(i.length == 16);
  CHECK(i.source_count == 2);
  CHECK_FALSE(i.no_mask);
  CHECK_FALSE(i.predicated());
  CHECK(i.has_dst);
  CHECK(i.dst.is_grf());
  CHECK(i.dst.reg == 4);
  CHECK(i.dst.type == Type::f);
  CHECK(i.dst.region.hstride == 1);
  CHECK(i.src[1].reg == 1);
  CHECK(i.src[1].subreg == 16);
  CHECK(i.src[1].byte_address(32) == 48);
  CHECK(i.src[1].region == Region{0, 1, 0});
  CHECK(i.src[1].modifier == SourceModifier::Neg);
}

TEST_CASE("immediates are zero-extended from their type") {
  // add (8|M0) r2.0<1>:d r96.0<8;8,1>:d -1023:d
  const Instruction i = decoded("40 00 60 00 28 0a 40 20 00 0c 8d 0e 01 fc ff ff");
  CHECK(i.src[1].is_immediate());
  CHECK(i.src[1].type == Type::d);
  CHECK(i.src[1].immediate == 0xfffffc01u);
  // and (16|M0) r113.0<1>:d r76.0<8;8,1>:d 256:w: the word is encoded twice
  const Instruction w = decoded("05 20 80 00 28 0a 20 2e 80 09 8d 1e 00 01 00 01");
  CHECK(w.src[1].type == Type::w);
  CHECK(w.src[1].immediate == 0x100u);
  CHECK(w.channel_offset == 16);
}

TEST_CASE("predicate, flag, mask and channel offset") {
  // (~f1.1) smov: these bits are independent of the opcode
  const Instruction i = decoded("01 10 71 00 2f 0a 40 2a 20 0a 8d 00 00 00 00 00");
  CHECK(i.opcode == Opcode::mov);
  CHECK(i.pred_ctrl == PredCtrl::Sequential);
  CHECK(i.pred_inverse);
  CHECK(i.flag_reg == 1);
  CHECK(i.flag_subreg == 1);
  CHECK(i.no_mask);
  CHECK(i.channel_offset == 8);
  CHECK(i.exec_size == 8);
}

TEST_CASE("indirect operands") {
  // smov-like mov (16|M0) r[a0.6,-4]<1>:d r[a0.1,96]<8;8,1>:d
  const Instruction i = decoded("01 00 80 00 28 8a fc ad 60 82 8d 00 00 00 00 00");
  CHECK(i.dst.kind == OperandKind::Indirect);
  CHECK(i.dst.address_subreg == 6);
  CHECK(i.dst.address_offset == -4);
  CHECK(i.src[0].kind == OperandKind::Indirect);
  CHECK(i.src[0].address_subreg == 1);
  CHECK(i.src[0].address_offset == 96);
}

TEST_CASE("branch targets are absolute byte offsets") {
  std::vector<std::byte> code = bytes(nop);
  // (f0.0) if (8|M0) 32 80, at byte 16
  for (std::byte b : bytes("22 00 61 00 20 0e 00 20 50 00 00 00 20 00 00 00")) code.push_back(b);
  const Result<Instruction> i = decode(code, 16, Family::Gen9);
  REQUIRE(i);
  CHECK(i->jip.present);
  CHECK(i->jip.raw == 32);
  CHECK(i->jip.offset == 48);
  CHECK(i->uip.offset == 96);
  // jmpi is relative to the next instruction
  const Instruction j = decoded("20 00 00 00 04 00 00 34 00 14 00 0e f0 ff ff ff");
  CHECK(j.jip.raw == -16);
  CHECK(j.jip.offset == 0);
  CHECK_FALSE(j.uip.present);
}

TEST_CASE("three-source Align16 and its Align1 form") {
  // mad (8|M0) r9.0<1>:f -r14.1.r:f r14.0:f r8.4.r:f as a compiler emits it
  const Instruction i = decoded("5b 31 60 00 00 00 1e 7d c9 f3 27 39 f6 20 c7 0b");
  CHECK(i.align16);
  CHECK(i.src[0].replicate);
  CHECK(i.dst.channel_enable == 0xf);
  const Result<Instruction> a = align1_form(i, Family::Gen9);
  REQUIRE(a);
  CHECK_FALSE(a->align16);
  CHECK(a->src[0].region == Region{0, 1, 0});
  CHECK(a->src[2].region == Region{2, 2, 1});
  // The same with a swizzle that no region can express.
  const Result<Instruction> swizzled =
      decode(with("5b 31 60 00 00 00 1e 7d c9 f3 27 39 f6 20 c7 0b", 114, 107, 0), 0, Family::Gen9);
  REQUIRE(swizzled);
  const Result<Instruction> none = align1_form(*swizzled, Family::Gen9);
  REQUIRE_FALSE(none);
  CHECK(contains_all(none.error().message, {"byte 0x0", "mad", "source 2", "swizzle"}));
}

TEST_CASE("three-source Align1 of Gen11") {
  // mad (16|M0) r69.0<1>:d r61.0<8;1>:d r60.1<0;0>:d 9:w
  const Instruction i = decoded("5b 00 80 00 00 60 00 45 39 d0 23 40 78 2c 01 00", Family::Gen11);
  CHECK_FALSE(i.align16);
  CHECK(i.dst.region.hstride == 1);
  CHECK(i.src[0].region == Region{8, 8, 1});
  CHECK(i.src[1].region == Region{0, 1, 0});
  CHECK(i.src[1].subreg == 4);
  CHECK(i.src[2].is_immediate());
  CHECK(i.src[2].type == Type::w);
  CHECK(i.src[2].immediate == 9);
  // mad (8|M0) acc0.0<1>:f -r5.0<4;1>:f acc1.0<0;0>:f 1.5:hf
  const Instruction acc = decoded("5b 00 60 00 58 70 00 20 31 50 20 00 42 00 c0 07", Family::Gen11);
  CHECK(acc.dst.is_arf(Arf::acc));
  CHECK(acc.src[0].modifier == SourceModifier::Neg);
  CHECK(acc.src[0].region == Region{4, 4, 1});
  CHECK(acc.src[1].is_arf(Arf::acc));
  CHECK(acc.src[1].reg == 1);
  CHECK(acc.src[2].type == Type::hf);
  CHECK(acc.src[2].immediate == 0x3e00);
  // madm (8|M0) r4.mme1:f r5.mme2:f r6.nomme:f r7.mme7:f
  const Instruction macro = decoded("5d 00 60 00 08 40 10 04 31 52 20 06 0d 84 dc 01", Family::Gen11);
  CHECK(macro.dst.mme == 1);
  CHECK(macro.src[0].mme == 2);
  CHECK(macro.src[1].mme == no_mme);
  CHECK(macro.src[2].mme == 7);
  CHECK(contains_all(
      rejected(with("5b 00 60 00 58 70 00 20 31 50 20 00 42 00 c0 07", 108, 106, 1), 0, Family::Gen11),
      {"mad", "16-bit immediate", "(bits 108:106)", "Gen11"}));
}

TEST_CASE("types have the codes of their encoding; Gen11 has no Align16") {
  // mov (8|M0) r4.0<1>:f acc0.0<8;8,1>:nf
  constexpr std::string_view native = "01 00 60 00 2c 59 80 20 00 04 8d 00 00 00 00 00";
  CHECK(decoded(native, Family::Gen11).src[0].type == Type::nf);
  CHECK(contains_all(rejected(bytes(native), 0, Family::Gen9), {"register data type", "Gen9"}));
  const Instruction bit8 = *decode(with(native, 8, 8, 1), 0, Family::Gen11);
  CHECK_FALSE(bit8.align16);
}

TEST_CASE("Gen7: offsets in 8 bytes, but of jmpi and call on Gen7.5 in bytes") {
  // if (8|M0) JIP 2, UIP 12 in units of 8 bytes
  constexpr std::string_view branch = "22 00 60 00 84 3c 00 20 00 00 8d 00 02 00 f4 ff";
  for (Family family : {Family::Gen7, Family::Gen7_5}) {
    const Instruction i = decoded(branch, family);
    CHECK(i.jip.raw == 16);
    CHECK(i.uip.raw == -96);
  }
  // On these families else has a JIP only.
  CHECK_FALSE(decoded("24 00 60 00 84 3c 00 20 00 00 8d 00 06 00 00 00", Family::Gen7).uip.present);
  CHECK(decoded("24 00 60 00 00 0e 00 20 10 00 00 00 20 00 00 00").uip.present);
  // (W) jmpi 16 from the next instruction
  constexpr std::string_view jump = "20 02 00 00 00 1c 00 20 00 00 00 00 10 00 00 00";
  CHECK(decoded(jump, Family::Gen7_5).jip.offset == 32);
  CHECK(decoded(jump, Family::Gen7).jip.offset == 16 + 128);
  // call (8|M0) null, offset 0x10010, of which Gen7 has 16 bits
  constexpr std::string_view call = "2c 00 60 00 00 1c 00 20 00 00 00 00 10 00 01 00";
  CHECK(decoded(call, Family::Gen7_5).jip.raw == 0x10010);
  CHECK(decoded(call, Family::Gen7).jip.raw == 128);
}

TEST_CASE("dim has a double for an immediate, which takes the bits of the flag register") {
  // dim (8|M0) r4.0<1>:df 1.5
  constexpr std::string_view dim = "0a 00 60 00 f9 03 80 20 00 00 00 00 00 00 f8 3f";
  const Instruction i = decoded(dim, Family::Gen7_5);
  CHECK(i.src[0].type == Type::df);
  CHECK(i.src[0].immediate == 0x3ff8000000000000u);
  CHECK(squeeze(print(i, Family::Gen7_5)) == "dim (8|M0) r4.0<1>:df 1.5:df");
  CHECK(contains_all(rejected(with(dim, 19, 16, 1), 0, Family::Gen7_5), {"dim", "flag register", "19:16"}));
  CHECK(contains_all(rejected(bytes(dim), 0, Family::Gen7), {"opcode 0xa", "Gen7"}));
}

TEST_CASE("registers, opcodes and math functions are those of the family") {
  constexpr std::string_view mov = "01 00 60 00 01 00 80 20 00 00 8d 00 00 00 00 00";  // src0 null, Gen7
  const auto register_of = [&](unsigned number, Family family) {
    return decode(with(mov, 76, 69, number), 0, family).operator bool();
  };
  CHECK(register_of(0x21, Family::Gen7));        // acc1
  CHECK_FALSE(register_of(0x22, Family::Gen7));  // acc2
  CHECK_FALSE(register_of(0x40, Family::Gen7));  // ce
  CHECK(register_of(0x40, Family::Gen7_5));
  CHECK_FALSE(register_of(0x71, Family::Gen7));  // sr1
  CHECK(register_of(0x71, Family::Gen7_5));
  CHECK_FALSE(register_of(0x32, Family::Gen7_5));  // f2
  // math.invm exists since Gen8.
  CHECK(contains_all(rejected(bytes("38 01 60 0e bd 03 c0 20 40 00 6e 00 00 00 00 00"), 0, Family::Gen7_5),
                     {"math function 0xe", "27:24", "Gen7.5"}));
  for (Opcode opcode : {Opcode::csel, Opcode::goto_, Opcode::madm, Opcode::rol, Opcode::sends})
    CHECK_FALSE(exists_on(opcode, Family::Gen7_5));
  for (Opcode opcode : {Opcode::dim, Opcode::f16to32, Opcode::lrp, Opcode::line, Opcode::dp4})
    CHECK_FALSE(exists_on(opcode, Family::Gen11));
}

TEST_CASE("a numeric target is a 32-bit number") {
  // endif (16|M0) -2147483648 - 1 + 1 at byte 16
  std::vector<std::byte> code = bytes(nop);
  for (std::byte b : bytes("25 00 80 00 00 00 00 20 00 00 00 0e ff ff ff 7f")) code.push_back(b);
  const Result<Instruction> i = decode(code, 16, Family::Gen9);
  REQUIRE(i);
  CHECK(squeeze(print(*i, Family::Gen9, LabelStyle::Numeric)) == "endif (16|M0) 2147483647");
}

TEST_CASE("the payload of an Align16 message keeps its swizzle") {
  // From the Gen7 vectors: send(8) g38<1>UD g87<4>.xUD 0x02107000 { align16 1Q }
  for (const std::string& line : read_lines(data_path("vectors_gen7.txt")))
    if (line.find("g87<4>.xUD") != std::string::npos) {
      std::string hex;
      for (std::size_t n = 0; n < 32; n += 2) hex += line.substr(n, 2) + " ";
      CHECK(decoded(hex, Family::Gen7).src[0].swizzle == 0);
      return;
    }
  FAIL("the vector is missing");
}

TEST_CASE("sends: descriptors, payload lengths, end of thread") {
  // sends (16|M0) null:w r14 r78 0x8C 0x04025EFF
  const Instruction i = decoded("33 00 80 0c 70 e0 04 00 c2 01 00 00 ff 5e 02 04");
  CHECK(i.send.sfid == Sfid::dc1);
  CHECK(i.send.ex_desc.value == 0x8c);
  CHECK(i.send.desc.value == 0x04025eff);
  CHECK(i.send.src0_length == 2);
  CHECK(i.send.src1_length == 2);
  CHECK(i.send.response_length == 0);
  CHECK(i.dst.is_null());
  CHECK(i.src[0].reg == 14);
  CHECK(i.src[1].reg == 78);
  // (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
  const Instruction eot = decoded("31 00 60 07 04 02 00 20 e0 0f 00 06 10 00 00 82");
  CHECK(eot.send.eot);
  CHECK(eot.send.sfid == Sfid::ts);
  CHECK(eot.send.ex_desc.value == 0x27);
}

TEST_CASE("an extended descriptor in a0 leaves the shared function open") {
  const Instruction i = decoded("33 00 80 0c 70 e0 04 20 c2 01 02 00 ff 5e 02 04");
  CHECK(i.send.sfid == Sfid::from_register);
  CHECK(i.send.ex_desc.is_register);
  CHECK(i.send.ex_desc.address_subreg == 2);
  CHECK(i.send.src1_length == -1);
}

TEST_CASE("sends does not exist before Gen9") {
  CHECK(contains_all(rejected(bytes("33 00 80 0c 70 e0 04 00 c2 01 00 00 ff 5e 02 04"), 0, Family::Gen8),
                     {"byte 0x0", "opcode 0x33", "6:0", "Gen8", "33 00 80"}));
}

TEST_CASE("truncated input and offsets out of range") {
  std::vector<std::byte> code = bytes(nop);
  for (std::size_t size = 0; size < 8; ++size)
    CHECK(contains_all(rejected({code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size)}),
                       {"byte 0x0", "at least 8 bytes"}));
  for (std::size_t size = 8; size < 16; ++size)
    CHECK(contains_all(rejected({code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size)}),
                       {"byte 0x0", "expected 16 bytes"}));
  CHECK(contains_all(rejected(code, 16), {"byte 0x10", "the kernel has 16 bytes"}));
  CHECK(contains_all(rejected(code, 17), {"byte 0x11"}));
  CHECK(contains_all(rejected(code, ~std::size_t{0}), {"0xffffffffffffffff"}));
  CHECK(contains_all(rejected({}, 0), {"the kernel has 0 bytes"}));
}

TEST_CASE("undefined opcodes and field values are located") {
  CHECK(contains_all(rejected(with(add_reg, 6, 0, 0x0b)), {"byte 0x0", "opcode 0xb", "bits 6:0", "Gen9"}));
  struct Case {
    unsigned hi, lo, value;
    std::string_view what;
  };
  constexpr Case cases[] = {
      {23, 21, 6, "execution size"},
      {23, 21, 7, "execution size"},
      {15, 14, 3, "thread control"},
      {19, 16, 14, "predicate control"},
      {27, 24, 7, "condition modifier"},
      {27, 24, 10, "condition modifier"},
      {36, 35, 2, "destination register file"},
      {40, 37, 11, "data type"},
      {60, 53, 128, "general register number"},
      {42, 41, 2, "register file"},
      {46, 43, 15, "data type"},
      {88, 85, 7, "vertical stride"},
      {84, 82, 5, "region width"},
      {90, 89, 0, "register file"},
      {94, 91, 12, "data type"},
      {76, 69, 200, "general register number"},
  };
  for (const Case& c : cases) {
    const std::string location = "(bits " + std::to_string(c.hi) + ":" + std::to_string(c.lo) + ")";
    CHECK(contains_all(rejected(with(add_reg, c.hi, c.lo, c.value)),
                       {"byte 0x0", "add", c.what, location, "Gen9"}));
  }
}

TEST_CASE("reserved architecture registers are located") {
  // mov with an ARF destination
  constexpr std::string_view mov = "01 00 00 00 04 00 00 30 00 10 00 00 00 00 00 00";
  REQUIRE(decode(bytes(mov), 0, Family::Gen9));
  for (unsigned code : {0xe0u, 0x32u, 0x2au, 0xd5u, 0x01u})
    CHECK(contains_all(rejected(with(mov, 60, 53, code)), {"architecture register", "(bits 60:53)"}));
}

TEST_CASE("instructions without a compacted form") {
  CHECK(contains_all(rejected(bytes("22 00 61 20 20 0e 00 20")), {"if", "no compacted form"}));
  CHECK(contains_all(rejected(bytes("31 00 61 20 20 0e 00 20")), {"send", "no compacted form"}));
}

TEST_CASE("illegal and padding") {
  const Instruction i = decoded("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  CHECK(i.opcode == Opcode::illegal);
  CHECK(squeeze(print(i, Family::Gen9)) == "illegal");
  const std::string text =
      disassemble(bytes("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 7e 00 00 00"), Family::Gen9);
  CHECK(contains_all(text, {"L0:", "illegal", "4 bytes"}));
  CHECK(contains_all(disassemble(bytes("0b 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"), Family::Gen9),
                     {"illegal", "opcode 0xb", "byte 0x0"}));
}

}  // namespace eum::gen::test
