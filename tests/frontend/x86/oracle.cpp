// One pass over the byte string; every rule is spelled out where it applies.
#include "tests/frontend/x86/oracle.hpp"

namespace eum::x86::test {
namespace {

bool is_segment(unsigned b) {
  return b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65;
}
bool is_legacy_prefix(unsigned b) {
  return is_segment(b) || b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3;
}

struct Text {
  const std::vector<std::uint8_t>& bytes;
  // -1: missing, -2: beyond the longest instruction
  int at(unsigned i) const {
    if (i >= 15 && bytes.size() >= 15) return -2;
    return i < bytes.size() ? bytes[i] : -1;
  }
};

Oracle missing(int marker) {
  Oracle o;
  o.kind = marker == -2 ? Oracle::TooLong : Oracle::Truncated;
  return o;
}
Oracle simple(Oracle::Kind kind, unsigned length = 0) {
  Oracle o;
  o.kind = kind;
  o.length = length;
  return o;
}

}  // namespace

Oracle oracle_decode(const std::vector<std::uint8_t>& bytes, int bits) {
  Text text{bytes};
  unsigned start = 0;
  while (text.at(start) >= 0) {
    unsigned b = static_cast<unsigned>(text.at(start));
    bool rex = bits == 64 && b >= 0x40 && b <= 0x4f;
    if (!rex && !is_legacy_prefix(b)) break;
    ++start;
  }
  if (text.at(start) < 0) return missing(text.at(start));

  // The effect of the prefixes, read backwards from the opcode.
  bool lock = false, p66 = false, p67 = false;
  unsigned rex = 0, last_repeat = 0;
  for (unsigned i = start; i-- > 0;) {
    unsigned b = bytes[i];
    if (b == 0xf0) lock = true;
    if (b == 0x66) p66 = true;
    if (b == 0x67) p67 = true;
    if ((b == 0xf2 || b == 0xf3) && last_repeat == 0) last_repeat = b;
    if (i + 1 == start && bits == 64 && b >= 0x40 && b <= 0x4f) rex = b;
  }

  unsigned modrm_at = 0;
  bool vex = false, evex = false;
  int first = text.at(start);
  if (first == 0x0f) {
    for (unsigned i = 1; i <= 2; ++i) {
      int b = text.at(start + i);
      if (b < 0) return missing(b);
      if (i == 1 && b != 0x38) return simple(Oracle::Foreign);
      if (i == 2 && b != 0xf8) return simple(Oracle::Foreign);
    }
    modrm_at = start + 3;
  } else if (first == 0xc4) {
    int p1 = text.at(start + 1);
    if (p1 < 0) return missing(p1);
    if (bits != 64 && p1 < 0xc0) return simple(Oracle::Foreign);  // LES
    int p2 = text.at(start + 2);
    if (p2 < 0) return missing(p2);
    switch (p1 % 32) {
      case 1:
      case 2:
      case 3:
      case 5:
        return simple(Oracle::Foreign);
      case 7:
        break;
      default:
        return simple(Oracle::Undefined, start + 3);
    }
    int op = text.at(start + 3);
    if (op < 0) return missing(op);
    bool known = (op == 0xf8 || op == 0xf6) && (p2 % 4 == 3 || p2 % 4 == 2);
    if (!known) return simple(Oracle::Undefined, start + 4);
    vex = true;
    modrm_at = start + 4;
  } else if (first == 0x62) {
    int p0 = text.at(start + 1);
    if (p0 < 0) return missing(p0);
    if (bits != 64 && p0 < 0xc0) return simple(Oracle::Foreign);  // BOUND
    bool promoted = p0 % 8 == 4;
    if (!promoted && p0 % 8 != 7) return simple(Oracle::Foreign);
    for (unsigned i = 2; i <= 4; ++i)
      if (text.at(start + i) < 0) return missing(text.at(start + i));
    int pp = text.at(start + 2) % 4, op = text.at(start + 4);
    if (pp < 2 || !(op == 0xf8 || (op == 0xf6 && !promoted))) return simple(Oracle::Foreign);
    int modrm = text.at(start + 5);
    if (modrm < 0) return missing(modrm);
    if (promoted && modrm < 0xc0) return simple(Oracle::Foreign);  // ENQCMD, ENQCMDS
    evex = true;
    vex = !promoted;  // the rest is as with VEX
    modrm_at = start + 5;
  } else {
    return simple(Oracle::Foreign);
  }

  int modrm = text.at(modrm_at);
  if (modrm < 0) return missing(modrm);
  unsigned mod = static_cast<unsigned>(modrm) / 64, reg = static_cast<unsigned>(modrm) / 8 % 8,
           rm = static_cast<unsigned>(modrm) % 8;
  if (!vex && !evex && mod != 3 && (p66 || last_repeat))
    return simple(Oracle::Foreign);  // MOVDIR64B, ENQCMD, ENQCMDS

  unsigned end = modrm_at + 1;
  if (mod != 3) {
    int address_bits = bits == 64 ? (p67 ? 32 : 64) : bits == 32 ? (p67 ? 16 : 32) : (p67 ? 32 : 16);
    if (address_bits == 16) {
      if (mod == 0 && rm == 6) end += 2;
      if (mod == 1) end += 1;
      if (mod == 2) end += 2;
    } else {
      bool disp32 = mod == 2 || (mod == 0 && rm == 5);
      if (rm == 4) {
        int sib = text.at(end);
        if (sib < 0) return missing(sib);
        if (mod == 0 && sib % 8 == 5) disp32 = true;
        end += 1;
      }
      if (disp32) end += 4;
      if (mod == 1) end += 1;
    }
  }
  unsigned immediate_at = end;
  if (vex) end += 4;
  if (text.at(end - 1) < 0) return missing(text.at(end - 1));

  bool bad = lock || bits != 64 || mod != 3;
  if (!vex && !evex) bad = bad || last_repeat == 0;
  if (evex) {
    unsigned p1 = bytes[start + 2], p2 = bytes[start + 3];
    bad = bad || p66 || last_repeat != 0 || rex != 0 || (vex && reg != 0);
    // W = 0, vvvv = 1111, X4 = 1; z = 0, L'L = 00, ND = 0, V4 = 1, NF = 0, aa = 00
    bad = bad || (p1 != 0b0'1111'1'10 && p1 != 0b0'1111'1'11) || p2 != 0b0'00'0'1'0'00;
  } else if (vex) {
    unsigned p2 = bytes[start + 2];
    bad = bad || p66 || last_repeat != 0 || rex != 0 || reg != 0;
    // W = 0, vvvv = 1111, L = 0
    bad = bad || (p2 != 0b0'1111'0'10 && p2 != 0b0'1111'0'11);
  }
  if (bad) return simple(Oracle::Undefined, end);

  Oracle o = simple(Oracle::Instruction, end);
  if (evex) {
    unsigned p0 = bytes[start + 1];
    o.apx = true;
    o.immediate = vex;
    o.read = bytes[start + 2] % 4 == 3;
    o.privileged = bytes[start + 4] == 0xf6;
    o.data = rm + (p0 & 0x20 ? 0 : 8) + (p0 & 0x08 ? 16 : 0);
    if (!vex) o.index = reg + (p0 & 0x80 ? 0 : 8) + (p0 & 0x10 ? 0 : 16);
  } else if (vex) {
    o.immediate = true;
    o.read = bytes[start + 2] % 4 == 3;
    o.privileged = bytes[start + 3] == 0xf6;
    o.data = rm + (bytes[start + 1] & 0x20 ? 0 : 8);
  } else {
    o.read = last_repeat == 0xf2;
    o.data = rm + (rex % 2 ? 8 : 0);
    o.index = reg + (rex / 4 % 2 ? 8 : 0);
  }
  if (vex)
    o.msr = bytes[immediate_at] + 0x100u * bytes[immediate_at + 1] + 0x10000u * bytes[immediate_at + 2] +
            0x1000000u * bytes[immediate_at + 3];
  return o;
}

}  // namespace eum::x86::test
