#pragma once
// The properties of an lsc instruction besides its operands (spec/visa-lsc-untyped.md, and the vISA documents
// LSC_TYPED and LSC_FENCE): operation, data shape, addressing, caching. The names are those of the text. It
// must not know how it is lowered.
#include <cstdint>

namespace eum::visa {

/// Rows of lsc_ops.def: the sub-operation and its shape.
enum class LscOp : std::uint8_t {
#define VISA_LSC_OP(name, ...) name,
#include "frontend/visa/lsc_ops.def"
#undef VISA_LSC_OP
};

/// The unit that performs it.
enum class LscUnit : std::uint8_t { ugm, ugml, tgm, slm, urb };
enum class LscCaching : std::uint8_t { df, uc, ca, wb, wt, st, ri, cc };
enum class LscAddressModel : std::uint8_t { invalid, flat, bss, ss, bti, arg, surf };
enum class LscAddressSize : std::uint8_t { invalid, a16, a32, a64 };
enum class LscDataSize : std::uint8_t { invalid, d8, d16, d32, d64, d8u32, d16u32, d16u32h };
enum class LscFenceOp : std::uint8_t { none, evict, invalidate, discard, clean, flushl3 };
enum class LscFenceScope : std::uint8_t { group, local, tile, gpu, gpus, sysrel, sysacq };

struct Lsc {
  LscOp op{};
  LscUnit unit = LscUnit::ugm;
  LscCaching l1 = LscCaching::df, l3 = LscCaching::df;
  // address
  LscAddressModel model = LscAddressModel::flat;
  LscAddressSize address_size = LscAddressSize::invalid;
  std::uint16_t scale = 1;
  std::int32_t offset = 0;    ///< bytes; block2d and typed: of x
  std::int32_t offset_y = 0;  ///< block2d and typed
  std::int32_t offset_z = 0;  ///< typed
  std::uint32_t surface_index = 0;
  // data
  LscDataSize data_size = LscDataSize::invalid;
  bool transposed = false;
  bool vnni = false;                    ///< block2d
  std::uint8_t elements = 1;            ///< per address: 1, 2, 3, 4, 8, 16, 32, 64
  std::uint8_t channel_mask = 0;        ///< quad and typed: bit 0 is x
  std::uint8_t blocks = 1;              ///< block2d
  std::uint16_t width = 0, height = 0;  ///< block2d, elements
  // fence
  LscFenceOp fence = LscFenceOp::none;
  LscFenceScope scope = LscFenceScope::group;
};

/// The operands of an lsc instruction in order; absent ones are OperandKind::None. A surface is an immediate
/// or a vector operand; addresses are raw operands, for block2d and strided accesses vector operands.
enum class LscOperand : std::uint8_t {
  Surface,
  Dst,
  Address0,  ///< addresses; strided: the base; typed: u; block2d: surface base
  Address1,  ///< strided: pitch; typed: v; block2d: surface width
  Address2,  ///< typed: r; block2d: surface height
  Address3,  ///< typed: lod; block2d: surface pitch
  Address4,  ///< block2d: x
  Address5,  ///< block2d: y
  Data0,     ///< of stores and atomics
  Data1,     ///< second source of atomics
};
inline constexpr unsigned lsc_operand_count = 10;

}  // namespace eum::visa
