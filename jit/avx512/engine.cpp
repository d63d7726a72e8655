// The AVX-512VL engine: the AVX2 engine with 32 vector registers and mask registers, and emitters of its own
// where there is a better instruction.
#include <asmjit/x86.h>

#include "jit/avx2/compiler.hpp"
#include "jit/avx512/emit/emit.hpp"
#include "jit/engine.hpp"

namespace eum::jit {
namespace avx512 {
namespace {

constexpr avx2::Host host{EngineKind::avx512, avx2::evex_target, emit::table};

}  // namespace
}  // namespace avx512

Result<std::unique_ptr<Engine>> make_avx512_engine() {
  if (auto below = make_avx2_engine(); !below) return below;
  const auto& features = asmjit::CpuInfo::host().features().x86();
  if (!features.hasAVX512_F() || !features.hasAVX512_VL() || !features.hasAVX512_BW() ||
      !features.hasAVX512_DQ() || !features.hasAVX512_CDI())
    return error("the avx512 engine needs a CPU with AVX-512 F, VL, BW, DQ and CD; use the avx2 engine");
  return avx2::make_engine(avx512::host);
}

}  // namespace eum::jit
