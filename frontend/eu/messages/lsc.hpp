#pragma once
// A message of the load/store cache (LSC): which registers hold addresses and data, and what is asked of
// which memory. It must not know the text or encoding that it comes from.
#include <array>
#include <cstdint>

#include "frontend/eu/operand.hpp"
#include "frontend/ir/image_access.hpp"
#include "frontend/ir/memory_access.hpp"

namespace eum::eu {

enum class LscOperation : std::uint8_t {
  Load,
  Store,
  LoadStrided,  ///< addresses[0] one address, addresses[1] the distance between those of channels
  StoreStrided,
  Atomic,
  Status,         ///< a bit a channel: whether a load would find its elements
  AppendCounter,  ///< an atomic on the counter of a surface
  LoadBlock2d,    ///< addresses: base, width and height and pitch minus one, x, y
  StoreBlock2d,
  TypedLoad,  ///< addresses: u, v, r, level of detail, as many as there are
  TypedStore,
  TypedAtomic,
  TypedLoadBlock,  ///< addresses: x in bytes, y
  TypedStoreBlock,
  Fence,
};

struct LscMessage {
  LscOperation operation = LscOperation::Load;
  // memory
  ir::MemSpace space = ir::MemSpace::A64;
  bool indirect_data = false;        ///< addresses count from where r0 says that the arguments are
  std::uint8_t surface_index = 0;    ///< of MemSpace::Surface where `surface` is none
  std::uint32_t state_distance = 0;  ///< bytes added to the place of a surface's state
  /// Index of a surface, place of its state, or of other memory what all addresses count from; may be none.
  Operand surface;
  mem::AtomicOp atomic = mem::AtomicOp::and_;
  // addresses
  ir::Type address = ir::Type::u64;  ///< of one; arithmetic on it wraps around
  std::uint16_t scale = 1;
  std::array<std::int32_t, 3> offset{};  ///< bytes; block2d and typed: of x, y, z
  std::array<Operand, 6> addresses;
  // data
  ir::Type memory = ir::Type::u32;  ///< one element there
  ir::Type unit = ir::Type::u32;    ///< what holds it in registers, zero-extended
  bool high_half = false;           ///< it is the high half of its unit
  bool transposed = false;          ///< elements of an address lie side by side
  std::uint64_t components = 1;     ///< mask of the elements that follow an address
  Operand dst;                      ///< none or null: nothing comes back
  std::array<Operand, 2> data;      ///< of stores, sources of atomics
  // blocks
  std::uint8_t blocks = 1;
  std::uint16_t width = 0, height = 0;     ///< elements; typed: bytes, rows
  std::uint32_t room = ~std::uint32_t{0};  ///< LoadBlock2d: bytes from the destination on that it may write
  bool vnni = false;  ///< elements that share a dword of a row come from neighbouring rows

  bool returns() const { return dst.kind == OperandKind::Register; }
};

}  // namespace eum::eu
