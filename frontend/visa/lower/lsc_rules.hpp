#pragma once
// The rules of lsc instructions, one row a fact: what each operation is, which caching, sizes, vectors,
// addresses and blocks there are (vISA documents LSC_UNTYPED and LSC_TYPED; where they are silent, what the
// vendor's finaliser accepts). It must not know operands.
#include <cstdint>
#include <optional>
#include <span>

#include "frontend/eu/messages/lsc.hpp"
#include "frontend/visa/lsc.hpp"

namespace eum::visa {

/// What an instruction does to memory, as far as rules ask.
enum class LscKind : std::uint8_t { Load, Store, Atomic, Other };

struct LscOpRule {
  LscOp op;
  LscKind kind;
  std::optional<eu::LscOperation> untyped, typed;  ///< none: the unit does not have it, or it is not modelled
  mem::AtomicOp atomic = mem::AtomicOp::and_;
};
const LscOpRule& rule(LscOp op);

struct LscDataRule {
  LscDataSize size;
  ir::Type memory;
  ir::Type unit;
  bool high_half;
  bool vectors;  ///< an address may have several elements; such data may be transposed, too
  bool atomics;
  std::uint8_t most_blocks;  ///< of block2d; 0: none at all
  std::uint8_t most_transposed_width;
};
/// Of a size that is not `invalid`.
const LscDataRule& rule(LscDataSize size);

/// Whether the caching of both levels goes together for accesses of this kind.
bool allows(LscKind kind, LscCaching l1, LscCaching l3);

/// Address sizes of a model and a unit; none: the unit does not have the model.
std::span<const LscAddressSize> address_sizes(LscUnit unit, LscAddressModel model);

// block2d
inline constexpr unsigned block2d_load_row_bytes = 64;  ///< of all blocks together
inline constexpr unsigned block2d_store_row_bytes = 512;
inline constexpr unsigned block2d_rows = 32;  ///< of registers
// block2d of the typed unit: media blocks
inline constexpr unsigned typed_block_width = 64, typed_block_rows = 64, typed_block_bytes = 256;
/// Not transposed, an address has at most so many elements.
inline constexpr unsigned most_vector = 8;
inline constexpr std::uint32_t most_pitch = 0xffff;  ///< of a strided access, as a number

}  // namespace eum::visa
