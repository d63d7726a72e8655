// The AVX-512VL engine: the AVX2 engine with 32 vector registers, mask registers where those are faster than
// lanes of vectors, and emitters of its own where there is a better instruction.
#include <asmjit/x86.h>

#include "jit/avx2/compiler.hpp"
#include "jit/avx512/emit/emit.hpp"
#include "jit/engine.hpp"

namespace eum::jit {
namespace avx512 {
namespace {

constexpr avx2::Host host{EngineKind::avx512, avx2::evex_target, emit::table};
constexpr avx2::Host host_of_lanes{EngineKind::avx512, avx2::evex_lanes_target, emit::table};

}  // namespace
}  // namespace avx512

MaskHome faster_mask_home() {
  return asmjit::CpuInfo::host().isVendor("AMD") ? MaskHome::Lanes : MaskHome::Registers;
}

Result<std::unique_ptr<Engine>> make_avx512_engine(MaskHome masks) {
  if (auto below = make_avx2_engine(); !below) return below;
  const auto& features = asmjit::CpuInfo::host().features().x86();
  if (!features.hasAVX512_F() || !features.hasAVX512_VL() || !features.hasAVX512_BW() ||
      !features.hasAVX512_DQ() || !features.hasAVX512_CDI())
    return error("the avx512 engine needs a CPU with AVX-512 F, VL, BW, DQ and CD; use the avx2 engine");
  return avx2::make_engine(masks == MaskHome::Lanes ? avx512::host_of_lanes : avx512::host);
}

}  // namespace eum::jit
