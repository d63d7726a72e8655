// Errors in a text: one line with the place, what was expected and what was found.
#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "frontend/visa/parser.hpp"
#include "frontend/visa/printer.hpp"
#include "tests/frontend/visa/texts.hpp"

namespace eum::visa::test {
namespace {

std::string error_of(std::string_view text) {
  auto module = parse(text);
  return module ? "no error" : module.error().message;
}

struct Wrong {
  std::string_view line;
  std::string_view expected;  ///< after the line number
};

/// Checks each line as the first one after the kernel's label.
void check(std::initializer_list<Wrong> lines) {
  for (const Wrong& wrong : lines) {
    INFO(wrong.line);
    CHECK(error_of(kernel_with(wrong.line)) == fmt::format("{}:{}", first_line, wrong.expected));
  }
}

}  // namespace

TEST_CASE("instructions: unknown names, suffixes and masks") {
  check({
      {"fly (M1, 8) V.0", "1: expected an instruction, found fly"},
      {"add.wrong (M1, 8) V(0,0)<1>", "4: expected '(', found ."},
      {"nbarrier.stop V(0,0)<0;1,0>", "1: expected an instruction, found nbarrier"},
      {"cmp (M1, 8) P V(0,0)<1;1,0> 0x0:d", "5: expected '.', found ("},
      {"cmp.no (M1, 8) P V(0,0)<1;1,0> 0x0:d", "5: expected eq, ne, gt, ge, lt or le, found no"},
      {"bfn.96 (M1, 8) V(0,0)<1>", "5: expected x and two hexadecimal digits, found 96"},
      {"svm_atomic.mul (M1, 8) Q.0", "12: expected an atomic operation, found mul"},
      {"svm_atomic.add.8 (M1, 8) Q.0", "16: expected 16, 32 or 64, found 8"},
      {"dword_atomic.add.64 (M1, 8) T V.0", "18: expected 16, found 64"},
      {"gather4_scaled.BR (M1, 8) T 0:ud V.0 V.0", "16: expected channels out of RGBA, found BR"},
      {"fence_global.X", "14: expected flags out of E, I, S, C, R and L1, in this order, found X"},
      {"add (M9, 8) V(0,0)<1>", "6: expected M1 to M8, M1_NM to M8_NM or NoMask, found M9"},
      {"add (M1, 3) V(0,0)<1>", "10: expected an execution size of 1, 2, 4, 8, 16 or 32, found 3"},
      {"add (M1, 64) V(0,0)<1>", "10: expected an execution size from 0 to 32, found 64"},
      {"add (M5, 32) V(0,0)<1>", "10: expected at most the 16 channels from this mask on, found 32"},
      {"(P) cmp.eq (M1, 8) P V(0,0)<1;1,0> 0x0:d",
       "1: expected no predicate, which cmp does not have, found ("},
      {"(V) add (M1, 8) V(0,0)<1>", "2: expected a predicate variable, found V"},
      {"(P.one) add (M1, 8) V(0,0)<1>", "4: expected any or all, found one"},
      {"*", "1: expected an instruction, a label or a directive, found *"},
      {"ret (M1, 1) V", "13: expected the end of the line, found V"},
      {"add (M1, 8) V(0,0)<1> V(0,0)<1;1,0>",
       "36: expected a general variable or r[...] or an immediate, found the end of the line"},
      {"add (M1, 8) V(0,0)<1> V(0,0)<1;1,0> 0:d 0:d", "41: expected the end of the line, found 0"},
      {"goto (M1, 8) nowhere", "14: expected a label of this kernel, found nowhere"},
      {"start:", "1: expected a label that does not stand twice, found start"},
      {"}", "1: expected no end of a scope where none is open, found }"},
      {".wrong", "1: expected a directive, found ."},
  });
}

TEST_CASE("operands: kinds, regions, numbers") {
  check({
      {"mov (M1, 8) X(0,0)<1> 0:d", "13: expected a declared variable, found X"},
      {"mov (M1, 8) P 0:d", "13: expected a general variable or r[...] or an address variable, found P"},
      {"mov (M1, 8) 1:d 0:d", "13: expected a general variable or r[...] or an address variable, found 1"},
      {"add (M1, 8) A(0)<1> 0:d 0:d", "13: expected a general variable or r[...], found A"},
      {"and (M1, 8) P V(0,0)<1;1,0> P", "15: expected a predicate variable, found V"},
      {"setp (M1, 8) V(0,0)<1> 0:d", "14: expected a predicate variable, found V"},
      {"mov (M1, 8) V(0,0)<3> 0:d", "20: expected a stride of 0, 1, 2 or 4, found 3"},
      {"mov (M1, 8) V(0,0)<1> V(0,0)<3;1,0>",
       "30: expected a vertical stride of 0, 1, 2, 4, 8, 16 or 32, found 3"},
      {"mov (M1, 8) V(0,0)<1> V(0,0)<1;32,0>", "32: expected a width of 1, 2, 4, 8 or 16, found 32"},
      {"mov (M1, 8) V(0,0)<1> V(0,0)<1;1,8>", "34: expected a stride of 0, 1, 2 or 4, found 8"},
      {"mov (M1, 8) V(0,0)<1> V(0,0)<1>", "31: expected ';', found >"},
      {"mov (M1, 8) V(65536,0)<1> 0:d", "15: expected a register from 0 to 65535, found 65536"},
      {"mov (M1, 8) V(0,-1)<1> 0:d", "17: expected an element from 0 to 65535, found -1"},
      {"mov (M1, 8) V(0,0)<1> 256:ub", "23: expected a value of type ub, found 256"},
      {"mov (M1, 8) V(0,0)<1> 0x100000000:d", "23: expected a value of type d, found 4294967296"},
      {"mov (M1, 8) V(0,0)<1> 0x10000000000000000:q",
       "23: expected a number of at most 64 bits, found 0x10000000000000000"},
      {"mov (M1, 8) V(0,0)<1> 99999999999999999999:q",
       "23: expected a number of at most 64 bits, found 99999999999999999999"},
      {"mov (M1, 8) V(0,0)<1> -1:f", "23: expected the bits of a float as a literal without sign, found -"},
      {"mov (M1, 8) V(0,0)<1> 1.5:d",
       "23: expected a literal of type f or df (others are written as bits), found 1"},
      {"mov (M1, 8) V(0,0)<1> 1e+999:df", "23: expected a number that a double can hold, found 1e"},
      {"mov (M1, 8) V(0,0)<1> 0:x", "25: expected a type, found x"},
      {"mov (M1, 8) V(0,0)<1> (1/0):d", "25: expected a result of 64 bits, found 1 / 0"},
      {"mov (M1, 8) V(0,0)<1> (0x7fffffffffffffff+1):q",
       "42: expected a result of 64 bits, found 9223372036854775807 + 1"},
      {"mov (M1, 8) V(0,0)<1> (1<<64):q", "25: expected a result of 64 bits, found 1 << 64"},
      {"mov (M1, 8) V(0,0)<1> (%sizeof V):d",
       "24: expected a constant (%sizeof and %DispatchSimd are not supported), found %sizeof"},
      {"mov (M1, 8) V(0,0)<1> r[V(0,0)]<0;1,0>:d", "25: expected an address variable, found V"},
      {"mov (M1, 8) V(0,0)<1> (abs)7:d", "28: expected a general variable or r[...], found 7"},
      {"mov (M1, 8) V(0,0)<1> (abs)(-)V(0,0)<1;1,0>", "28: expected a general variable or r[...], found ("},
      {"addr_add (M1, 8) A(0)<1> &P 0:d", "27: expected a general variable or a surface, found P"},
      {"movs (M1, 1) P 0:ud", "14: expected a general variable or a surface or sampler, found P"},
      {"svm_gather.4.1 (M1, 8) Q.0 P.0", "28: expected a general variable, found P"},
      {"svm_gather.4.1 (M1, 8) Q.0 V", "29: expected '.', found the end of the line"},
      {"gather_scaled.1 (M1, 8) S 0:ud V.0 V.0", "25: expected a surface, found S"},
      {"sample_lz.R (M1, 8) 0:uw T T V.0 V.0", "26: expected a sampler, found T"},
      {"media_ld.nomod (8,1) T 16 0:ud 0:ud V.0", "24: expected a plane from 0 to 15, found 16"},
      {"oword_ld (3) T 0:ud V.0", "11: expected 1, 2, 4, 8 or 16, found 3"},
      {".file \"a", "9: expected '\"', found the end of the line"},
      {".file \"\\q\"", "9: expected an escape sequence, found q"},
  });
}

TEST_CASE("lsc: operations, units, shapes, addresses") {
  check({
      {"lsc_jump.ugm (M1, 8) V:d32 flat[Q]:a64", "1: expected an lsc instruction, found lsc_jump"},
      {"lsc_load.abc (M1, 8) V:d32 flat[Q]:a64",
       "10: expected a unit: ugm, ugml, tgm, slm or urb, found abc"},
      {"lsc_load.urb (M1, 8) V:d32 flat[Q]:a64", "1: expected a unit of memory, found urb"},
      {"lsc_load.tgm (M1, 8) V:d32 flat[Q]:a64", "1: expected an operation of tgm, found lsc_load"},
      {"lsc_read_state_info.ugm V bti(0)", "1: expected an operation of ugm, found lsc_read_state_info"},
      {"lsc_load.ugm.xx (M1, 8) V:d32 flat[Q]:a64",
       "14: expected a caching mode: df, uc, ca, wb, wt, st, ri or cc, found xx"},
      {"lsc_load.ugm (M1, 8) V:d33 flat[Q]:a64",
       "24: expected a data size: d8, d16, d32, d64, d8u32, d16u32 or d16u32h, found d33"},
      {"lsc_load.ugm (M1, 8) V:d32x5 flat[Q]:a64",
       "28: expected 1, 2, 3, 4, 8, 16, 32 or 64 elements, found 5"},
      {"lsc_load.ugm (M1, 8) V:d32.x flat[Q]:a64",
       "27: expected an address model: flat, bss, ss, bti, arg or surf, found ."},
      {"lsc_load_quad.ugm (M1, 8) V:d32 flat[Q]:a64", "33: expected '.', found flat"},
      {"lsc_load_quad.ugm (M1, 8) V:d32.zx flat[Q]:a64", "33: expected channels out of xyzw, found zx"},
      {"lsc_load.ugm (M1, 8) V:d32 far[Q]:a64",
       "28: expected an address model: flat, bss, ss, bti, arg or surf, found far"},
      {"lsc_load.ugm (M1, 8) V:d32 flat[%null]:a64", "33: expected a variable with addresses, found %null"},
      {"lsc_load_strided.ugm (M1, 8) V:d32 flat[Q.4]:a64",
       "41: expected an offset in whole elements of 8 bytes, found 4"},
      {"lsc_load.ugm (M1, 8) V:d32 flat[Q]:a128",
       "36: expected an address size: a16, a32 or a64, found a128"},
      {"lsc_load.ugm (M1, 8) V:d32 flat[0*Q]:a64", "33: expected a scale from 1 to 65535, found 0"},
      {"lsc_load.ugm (M1, 8) V:d32 flat[Q+0x80000000]:a64",
       "35: expected an offset from -2147483647 to 2147483647, found 2147483648"},
      {"lsc_load_quad.tgm (M1, 8) V:d32.x flat[V]:a32",
       "35: expected an address model with a surface, found flat"},
      {"lsc_load_block2d.ugm (M1, 1) V:d8.16 flat[Q,V,V,V,V,V]", "38: expected 'x', found flat"},
      {"lsc_load_block2d.ugm (M1, 1) V:d8.0x16 flat[Q,V,V,V,V,V]",
       "35: expected a size of at least 1, found 0x16"},
      {"lsc_load_block2d.ugm (M1, 1) V:d8.256x1x1nn flat[Q,V,V,V,V,V]",
       "35: expected at most 255 blocks, found 256"},
      {"lsc_load_block2d.ugm (M1, 1) V:d8.1x1x1nx flat[Q,V,V,V,V,V]",
       "40: expected nn, nt, tn or tt: transposed, and transformed as VNNI wants it, found nx"},
      {"lsc_load_block2d.ugm (M1, 1) V:d8.1x1x1nn flat[7,V,V,V,V,V]",
       "48: expected a general variable, found 7"},
      {"lsc_load_block2d.ugm (M1, 1) V:d8.1x1x1nn flat[Q,V,V,V,V]", "57: expected ',', found ]"},
      {"lsc_apndctr_atomic_add.ugm (M1, 8) V:d32 bti(0) V:d64",
       "49: expected data of the destination's shape, found another shape"},
      {"lsc_fence.ugm.none", "19: expected '.', found the end of the line"},
      {"lsc_fence.ugm.none.moon",
       "20: expected a scope: group, local, tile, gpu, gpus, sysrel or sysacq, found moon"},
  });
}

TEST_CASE("declarations: properties, limits, aliases") {
  check({
      {".decl V v_type=G type=d num_elts=1", "7: expected a name not yet declared, found V"},
      {".decl TSS v_type=T num_elts=1", "7: expected a name not yet declared, found TSS"},
      {".decl %r0 v_type=G type=d num_elts=1", "7: expected a name, found %r0"},
      {".decl X v_type=X num_elts=1", "16: expected G, A, P, S or T, found X"},
      {".decl X type=d v_type=G num_elts=1", "9: expected v_type=, found type"},
      {".decl X v_type=G type=z num_elts=1", "23: expected a type, found z"},
      {".decl X v_type=G num_elts=1", "28: expected type=, found the end of the line"},
      {".decl X v_type=G type=d", "24: expected num_elts=, found the end of the line"},
      {".decl X v_type=G type=d num_elts=0", "34: expected a number of elements from 1 to 65535, found 0"},
      {".decl X v_type=G type=d num_elts=65536",
       "34: expected a number of elements from 1 to 65535, found 65536"},
      {".decl X v_type=P num_elts=33", "27: expected a number of elements from 1 to 32, found 33"},
      {".decl X v_type=P type=d num_elts=8",
       "18: expected a property of this kind of variable or the end of the line, found type"},
      {".decl X v_type=P num_elts=8 num_elts=9", "29: expected each property once, found num_elts"},
      {".decl X v_type=G type=d num_elts=1 align=cow",
       "42: expected an alignment like dword, hword, wordx32 or GRF, found cow"},
      {".decl X v_type=G type=d num_elts=1 align=3", "42: expected a power of two, found 3"},
      {".decl X v_type=G type=d num_elts=1 alias=<Y, 0>", "43: expected a declared variable, found Y"},
      {".decl X v_type=G type=d num_elts=1 alias=<X, 0>", "43: expected a declared variable, found X"},
      {".decl X v_type=G type=d num_elts=1 alias=<P, 0>", "43: expected a general variable, found P"},
      {".decl X v_type=G type=d num_elts=2 alias=<V, 252>",
       "7: expected an alias within the 256 bytes of V, found one up to byte 260"},
      {".decl X v_type=G type=d num_elts=1 alias=<V, -4>",
       "46: expected an offset from 0 to 2147483647, found -4"},
      {".decl X v_type=G type=d num_elts=1 attrs={3}", "43: expected the name of an attribute, found 3"},
      {".input X offset=0", "8: expected a declared variable, found X"},
      {".input V offset=70000", "17: expected bytes from 0 to 65535, found 70000"},
      {".input V size=257", "10: expected at most the 256 bytes of V, found 257"},
      {".input V where=1", "10: expected offset=, size= or attrs=, found where"},
      {".kernel_attr 3", "14: expected the name of an attribute, found 3"},
      {".kernel \"k\"", "9: expected a name that no kernel before has, found k"},
      {".kernel \"\"", "9: expected a name, found \""},
  });
}

TEST_CASE("files: version, kernels, scopes") {
  CHECK(error_of("") == "1:1: expected .version, found the end of the text");
  CHECK(error_of("\n\n.kernel \"k\"") == "3:1: expected .version, found .");
  CHECK(error_of(".version 4\n") == "1:11: expected '.', found the end of the line");
  CHECK(error_of(".version 256.0\n") == "1:10: expected a version from 0 to 255, found 256");
  CHECK(error_of(".version 4.1\nret (M1, 1)\n") == "2:1: expected .kernel or .global_function, found ret");
  CHECK(error_of(".version 4.1\n.decl V v_type=P num_elts=1\n") ==
        "2:1: expected .kernel or .global_function, found .");
  CHECK(error_of(".version 4.1\n.kernel k\n{\n") == "4:1: expected '}', found the end of the text");
  CHECK(error_of(".version 4.1\n.kernel k\n{\n.decl V v_type=P num_elts=1\n}\nsetp (M1, 1) V 0:ud\n") ==
        "6:14: expected a declared variable, found V");
  CHECK(error_of(".version 4.1\n/* never\nclosed") == "no error");
}

TEST_CASE("bytes that are no text: shown as numbers, long words cut") {
  using namespace std::string_literals;
  CHECK(error_of(".version 4.1\n.kernel k\n\0ret\n"s) ==
        "3:1: expected an instruction, a label or a directive, found \\x00");
  CHECK(error_of(".version 4.1\n.kernel k\n\xff\n") ==
        "3:1: expected an instruction, a label or a directive, found \\xff");
  CHECK(error_of(".version 4.1\n.kernel k\n" + std::string(1000, 'x') + "\n") ==
        "3:1: expected an instruction, found " + std::string(40, 'x') + "...");
}

TEST_CASE("limits: kernels, variables, aliases of aliases, operands, nesting") {
  std::string kernels = ".version 4.1\n";
  for (int i = 0; i < 1025; ++i) kernels += fmt::format(".kernel k{}\n", i);
  CHECK(error_of(kernels) == "1026:9: expected at most 1024 kernels, found k1024");

  std::string text = kernel_with("");
  for (int i = 0; i < 40; ++i) text += fmt::format(".decl B{} v_type=G type=q num_elts=65535\n", i);
  CHECK(error_of(text) == "46:7: expected at most 16777216 bytes of variables, found 16777408");

  text = kernel_with(".decl L0 v_type=G type=d num_elts=1 alias=<V, 0>");
  for (int i = 1; i < 100; ++i)
    text += fmt::format(".decl L{} v_type=G type=d num_elts=1 alias=<L{}, 0>\n", i, i - 1);
  CHECK(error_of(text) == "78:45: expected at most 64 aliases of each other, found L63");

  text = "switchjmp (M1, 1) V(0,0)<0;1,0> (";
  for (int i = 0; i < 300; ++i) text += "start, ";
  CHECK(error_of(kernel_with(text)) == "14:1817: expected at most 255 operands, found ,");

  const std::string open(10000, '('), minus(10000, '-');
  CHECK(error_of(kernel_with("mov (M1, 1) V(0,0)<1> " + open)) ==
        "14:87: expected at most 64 nested parentheses and signs, found (");
  CHECK(error_of(kernel_with("mov (M1, 1) V(0,0)<1> " + minus)) ==
        "14:87: expected at most 64 nested parentheses and signs, found -");
}

TEST_CASE("names that scopes hide stay apart, however they are numbered") {
  const std::string scope = "{\n.decl V v_type=P num_elts=1\nsetp (M1, 1) V 0x0:ud\n}\n";
  auto module = parse(kernel_with(".decl V_1 v_type=P num_elts=1\n" + scope + scope));
  REQUIRE(module);
  const std::string text = print(*module);
  CHECK(text.find(".decl V_2 v_type=P") != std::string::npos);
  CHECK(text.find(".decl V_3 v_type=P") != std::string::npos);
  CHECK(text.find("setp (M1, 1) V_3 0x0:ud") != std::string::npos);
}

}  // namespace eum::visa::test
