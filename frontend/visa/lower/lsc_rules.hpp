#pragma once
// The rules of lsc instructions, one row per fact: what each operation is, and which caching, sizes, vectors,
// addresses and blocks exist (vISA documents LSC_UNTYPED and LSC_TYPED; where they are silent, what the
// vendor's finaliser accepts). It must not know operands.
#include <cstdint>
#include <optional>
#include <span>

#include "frontend/eu/messages/lsc.hpp"
#include "frontend/visa/lsc.hpp"

namespace eum::visa {

/// The effect of an instruction on memory, as far as rules need it.
enum class LscKind : std::uint8_t { Load, Store, Atomic, Other };

struct LscOpRule {
  LscOp op;
  LscKind kind;
  std::optional<eu::LscOperation> untyped, typed;  ///< none: not in this unit, or not modelled
  mem::AtomicOp atomic = mem::AtomicOp::and_;
};
const LscOpRule& rule(LscOp op);

struct LscDataRule {
  LscDataSize size;
  ir::Type memory;
  ir::Type unit;
  bool high_half;
  bool vectors;  ///< an address may have several elements; the data may also be transposed
  bool atomics;
  std::uint8_t most_blocks;  ///< of block2d; 0: block2d is not allowed
  std::uint8_t most_transposed_width;
};
/// The rule of a size other than `invalid`.
const LscDataRule& rule(LscDataSize size);

/// Whether accesses of this kind may combine the caching of both levels.
bool allows(LscKind kind, LscCaching l1, LscCaching l3);

/// Address sizes of a model in a unit; none: the unit does not have the model.
std::span<const LscAddressSize> address_sizes(LscUnit unit, LscAddressModel model);

// block2d
inline constexpr unsigned block2d_load_row_bytes = 64;  ///< all blocks together
inline constexpr unsigned block2d_store_row_bytes = 512;
inline constexpr unsigned block2d_rows = 32;  ///< height of a block
// block2d of the typed unit: media blocks
inline constexpr unsigned typed_block_width = 64, typed_block_rows = 64, typed_block_bytes = 256;
/// Maximum number of elements of an address, unless transposed.
inline constexpr unsigned most_vector = 8;
inline constexpr std::uint32_t most_pitch = 0xffff;  ///< of a strided access, if immediate

}  // namespace eum::visa
