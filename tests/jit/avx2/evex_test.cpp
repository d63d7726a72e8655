// AVX2 instructions behave the same on vector registers that only EVEX can encode: each instruction runs on
// registers below 16 and on registers above, on the same random operands.
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include "jit/avx2/assembler.hpp"
#include "jit/code_memory.hpp"
#include "jit/engine.hpp"

namespace eum::jit::avx2::test {
namespace {

namespace I = x86::Inst;
using asmjit::Imm;
using asmjit::Operand;

struct State {
  alignas(64) std::array<std::array<std::uint32_t, 8>, 6> vectors;
  alignas(64) std::array<std::uint32_t, 16> memory;
  std::uint64_t general = 0;
  std::uint64_t zero = 0;  ///< ZF
  bool operator==(const State&) const = default;
};

/// Operands as letters: a to e are ymm registers (a is the result), A to E their low halves; m, n, o, p are
/// 32, 16, 8 and 4 bytes of memory; r is a general register, R a 64-bit one; x is memory indexed by d, X by
/// D; a number is an immediate.
struct Form {
  asmjit::InstId id;
  const char* operands;
};

std::vector<Operand> operands_of(const Form& form, unsigned first) {
  std::vector<Operand> list;
  for (const char* at = form.operands; *at != 0; ++at) {
    if (*at >= 'a' && *at <= 'e') list.push_back(x86::ymm(first + static_cast<unsigned>(*at - 'a')));
    if (*at >= 'A' && *at <= 'E') list.push_back(x86::xmm(first + static_cast<unsigned>(*at - 'A')));
    if (*at >= 'm' && *at <= 'p')
      list.push_back(x86::ptr(x86::rdi, offsetof(State, memory), 32u >> static_cast<unsigned>(*at - 'm')));
    if (*at == 'r') list.push_back(x86::eax);
    if (*at == 'R') list.push_back(x86::rax);
    if (*at == 'x') list.push_back(x86::ptr(x86::rdi, x86::ymm(first + 3), 0, offsetof(State, memory), 4));
    if (*at == 'X') list.push_back(x86::ptr(x86::rdi, x86::xmm(first + 3), 0, offsetof(State, memory), 8));
    if (*at >= '0' && *at <= '9') {
      list.push_back(Imm(std::strtol(at, const_cast<char**>(&at), 10)));
      --at;
    }
  }
  return list;
}

State run(const Form& form, unsigned first, bool evex, State state) {
  asmjit::CodeHolder holder;
  REQUIRE(holder.init(asmjit::Environment::host()) == asmjit::kErrorOk);
  codegen::ConstantPool pool;
  Assembler a(&holder, pool, evex);
  const auto vector = [](unsigned i) { return x86::ptr(x86::rdi, static_cast<int>(i * 32), 32); };
  for (unsigned i = 0; i < 6; ++i) a.vmovaps(x86::ymm(first + i), vector(i));
  a.mov(x86::rax, x86::ptr(x86::rdi, offsetof(State, general), 8));
  const auto o = operands_of(form, first);
  const auto at = [&](std::size_t i) { return i < o.size() ? o[i] : Operand(); };
  a.xor_(x86::ecx, x86::ecx);  // or an instruction that keeps ZF would show the caller's
  a.emit(form.id, at(0), at(1), at(2), at(3));
  a.setz(x86::byte_ptr(x86::rdi, offsetof(State, zero)));
  a.mov(x86::ptr(x86::rdi, offsetof(State, general), 8), x86::rax);
  for (unsigned i = 0; i < 6; ++i) a.vmovaps(vector(i), x86::ymm(first + i));
  a.vzeroupper();
  a.ret();
  a.align(asmjit::AlignMode::kData, 32);
  a.bind(a.pool_label());
  if (!pool.entries().empty()) a.embed(pool.entries().data(), pool.entries().size() * 32);
  REQUIRE(holder.flatten() == asmjit::kErrorOk);
  REQUIRE(holder.resolveUnresolvedLinks() == asmjit::kErrorOk);
  auto memory = CodeMemory::reserve(holder.codeSize());
  REQUIRE(memory);
  REQUIRE(holder.relocateToBase(reinterpret_cast<std::uint64_t>(memory->data())) == asmjit::kErrorOk);
  REQUIRE(holder.copyFlattenedData(memory->data(), memory->size()) == asmjit::kErrorOk);
  REQUIRE(memory->seal());
  reinterpret_cast<void (*)(State*)>(memory->data())(&state);
  return state;
}

constexpr Form forms[]{
    {I::kIdVpand, "abc"},
    {I::kIdVpand, "abm"},
    {I::kIdVpandn, "abc"},
    {I::kIdVpor, "abc"},
    {I::kIdVpxor, "abm"},
    {I::kIdVmovdqa, "am"},
    {I::kIdVmovdqu, "ma"},
    {I::kIdVextracti128, "Ab1"},
    {I::kIdVextractf128, "Ab0"},
    {I::kIdVextractf128, "nb1"},
    {I::kIdVbroadcasti128, "an"},
    {I::kIdVinserti128, "abC1"},
    {I::kIdVinserti128, "abn1"},
    {I::kIdVinsertf128, "abn0"},
    {I::kIdVroundps, "ab1"},
    {I::kIdVroundps, "ab11"},
    {I::kIdVroundpd, "ab10"},
    {I::kIdVpcmpeqb, "abc"},
    {I::kIdVpcmpeqw, "abm"},
    {I::kIdVpcmpeqd, "abc"},
    {I::kIdVpcmpeqq, "abc"},
    {I::kIdVpcmpgtb, "abc"},
    {I::kIdVpcmpgtw, "abm"},
    {I::kIdVpcmpgtd, "abc"},
    {I::kIdVpcmpgtq, "abm"},
    {I::kIdVcmpps, "abc17"},
    {I::kIdVcmppd, "abm3"},
    {I::kIdVcmpps, "aaa3"},
    {I::kIdVpblendvb, "abcd"},
    {I::kIdVblendvps, "abcd"},
    {I::kIdVblendvpd, "abmd"},
    {I::kIdVblendvps, "aacd"},
    {I::kIdVblendvps, "aaba"},
    {I::kIdVpblendw, "abc170"},
    {I::kIdVpblendd, "abc170"},
    {I::kIdVpblendd, "abm15"},
    {I::kIdVpmovmskb, "rb"},
    {I::kIdVpmovmskb, "rB"},
    {I::kIdVmovmskps, "rb"},
    {I::kIdVmovmskpd, "rb"},
    {I::kIdVmovmskps, "rB"},
    {I::kIdVpmaskmovd, "abm"},
    {I::kIdVpmaskmovd, "mab"},
    {I::kIdVmaskmovps, "mab"},
    {I::kIdVmaskmovpd, "mab"},
    {I::kIdVmaskmovps, "abm"},
    {I::kIdVpgatherdd, "axb"},
    {I::kIdVpgatherdq, "aXb"},
    {I::kIdVptest, "ab"},
    {I::kIdVptest, "am"},
    {I::kIdVperm2f128, "abc32"},
    {I::kIdVperm2f128, "abc49"},
    // Instructions that EVEX encodes under the same name
    {I::kIdVmovups, "am"},
    {I::kIdVmovups, "ma"},
    {I::kIdVmovups, "An"},
    {I::kIdVmovaps, "ab"},
    {I::kIdVmovd, "Ar"},
    {I::kIdVmovd, "rA"},
    {I::kIdVmovd, "Ap"},
    {I::kIdVmovd, "pA"},
    {I::kIdVmovq, "AR"},
    {I::kIdVmovq, "RA"},
    {I::kIdVmovq, "Ao"},
    {I::kIdVmovq, "oA"},
    {I::kIdVpbroadcastd, "aB"},
    {I::kIdVpbroadcastd, "ap"},
    {I::kIdVpbroadcastq, "aB"},
    {I::kIdVpbroadcastw, "aB"},
    {I::kIdVpbroadcastb, "aB"},
    {I::kIdVbroadcastss, "ap"},
    {I::kIdVbroadcastsd, "ao"},
    {I::kIdVpermq, "ab216"},
    {I::kIdVshufps, "abc136"},
    {I::kIdVunpcklps, "abc"},
    {I::kIdVunpckhps, "abc"},
    {I::kIdVunpcklpd, "abc"},
    {I::kIdVunpckhpd, "abc"},
    {I::kIdVpshufb, "abm"},
    {I::kIdVpsrldq, "AB8"},
    {I::kIdVpackusdw, "abc"},
    {I::kIdVpackuswb, "abc"},
    {I::kIdVpackssdw, "abc"},
    {I::kIdVpacksswb, "abc"},
    {I::kIdVpmovzxdq, "aB"},
    {I::kIdVpmovzxwd, "an"},
    {I::kIdVpmovzxbd, "ao"},
    {I::kIdVpmovsxdq, "aB"},
    {I::kIdVpmovsxbw, "aB"},
    {I::kIdVpmovsxwd, "aB"},
    {I::kIdVmovshdup, "ab"},
    {I::kIdVmovsldup, "ab"},
    {I::kIdVmovhps, "ABo"},
    {I::kIdVpinsrd, "ABr1"},
    {I::kIdVpinsrw, "ABr3"},
    {I::kIdVpinsrb, "ABr5"},
    {I::kIdVpinsrq, "ABR1"},
    {I::kIdVpextrd, "rB1"},
    {I::kIdVpextrw, "rB1"},
    {I::kIdVpextrb, "rB3"},
    {I::kIdVpextrq, "RB1"},
    {I::kIdVpslld, "ab5"},
    {I::kIdVpsrld, "ab5"},
    {I::kIdVpsrad, "ab5"},
    {I::kIdVpsllq, "ab5"},
    {I::kIdVpsrlq, "ab33"},
    {I::kIdVpsllw, "ab5"},
    {I::kIdVpsrlw, "ab5"},
    {I::kIdVpsraw, "ab5"},
    {I::kIdVpsllvd, "abc"},
    {I::kIdVpsrlvd, "abm"},
    {I::kIdVpsravd, "abc"},
    {I::kIdVpsllvq, "abc"},
    {I::kIdVpsrlvq, "abc"},
    {I::kIdVpaddd, "abm"},
    {I::kIdVpaddq, "abc"},
    {I::kIdVpaddw, "abc"},
    {I::kIdVpaddb, "abc"},
    {I::kIdVpsubd, "abc"},
    {I::kIdVpsubq, "abc"},
    {I::kIdVpsubusw, "abc"},
    {I::kIdVpmulld, "abc"},
    {I::kIdVpmullw, "abc"},
    {I::kIdVpmuludq, "abc"},
    {I::kIdVpmuldq, "abc"},
    {I::kIdVpminud, "abc"},
    {I::kIdVpmaxsd, "abm"},
    {I::kIdVpminsw, "abc"},
    {I::kIdVpabsd, "ab"},
    {I::kIdVpavgb, "abc"},
    {I::kIdVpsadbw, "abc"},
    {I::kIdVpmaddwd, "abc"},
    {I::kIdVpmaddubsw, "abc"},
    {I::kIdVaddps, "abc"},
    {I::kIdVsubpd, "abc"},
    {I::kIdVmulps, "abm"},
    {I::kIdVdivpd, "abc"},
    {I::kIdVsqrtps, "ab"},
    {I::kIdVminps, "abc"},
    {I::kIdVmaxpd, "abc"},
    {I::kIdVandps, "abm"},
    {I::kIdVandpd, "abc"},
    {I::kIdVandnpd, "abc"},
    {I::kIdVxorps, "abm"},
    {I::kIdVfmadd231ps, "abc"},
    {I::kIdVfmadd132ps, "abm"},
    {I::kIdVfmadd231pd, "abm"},
    {I::kIdVcvtdq2ps, "ab"},
    {I::kIdVcvttps2dq, "ab"},
    {I::kIdVcvtdq2pd, "aB"},
    {I::kIdVcvttpd2dq, "Ab"},
    {I::kIdVcvtps2pd, "aB"},
    {I::kIdVcvtpd2ps, "Ab"},
    {I::kIdVcvtph2ps, "aB"},
    {I::kIdVcvtps2ph, "Ab0"},
};

}  // namespace

TEST_CASE("EVEX: instructions of AVX2 do the same on registers 16 to 31") {
  if (const auto engine = make_avx512_engine(); !engine) {
    WARN("not tested: " << engine.error().message);
    return;
  }
  std::mt19937_64 random(20261122);
  for (const Form& form : forms)
    for (unsigned round = 0; round < 20; ++round) {
      State state{};
      for (auto& vector : state.vectors)
        for (std::uint32_t& word : vector) word = static_cast<std::uint32_t>(random());
      for (std::uint32_t& word : state.memory) word = static_cast<std::uint32_t>(random());
      if (round % 2 == 0)  // some values are equal
        for (unsigned i = 0; i < 8; i += 2) state.vectors[2][i] = state.vectors[1][i];
      if (form.operands[1] == 'x' || form.operands[1] == 'X')
        for (std::uint32_t& word : state.vectors[3]) word %= 32;
      state.general = random();
      const State low = run(form, 0, false, state), high = run(form, 16, true, state),
                  other = run(form, 24, true, state);
      asmjit::String name;
      asmjit::InstAPI::instIdToString(asmjit::Arch::kX64, form.id, name);
      INFO(name.data() << " " << form.operands << " round " << round);
      State expected = low, found = high;
      // A VEX gather clears its mask register.
      if (form.operands[1] == 'x' || form.operands[1] == 'X') expected.vectors[1] = found.vectors[1];
      if (form.id != I::kIdVptest) expected.zero = found.zero = 0;
      REQUIRE((found == expected));
      REQUIRE((other == high));
    }
}

}  // namespace eum::jit::avx2::test
