#pragma once
// A message of the load/store cache (LSC): the registers of addresses and data, and the requested memory
// operation. It must not know the text or encoding that it comes from.
#include <array>
#include <cstdint>

#include "frontend/eu/operand.hpp"
#include "frontend/ir/image_access.hpp"
#include "frontend/ir/memory_access.hpp"

namespace eum::eu {

enum class LscOperation : std::uint8_t {
  Load,
  Store,
  LoadStrided,  ///< addresses[0]: one address, addresses[1]: the distance between the channels' addresses
  StoreStrided,
  Atomic,
  Status,         ///< one bit per channel: whether a load would find its elements
  AppendCounter,  ///< an atomic on a surface's append counter
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
  bool indirect_data = false;        ///< addresses are relative to the arguments, to which r0 points
  std::uint8_t surface_index = 0;    ///< for MemSpace::Surface if `surface` is none
  std::uint32_t state_distance = 0;  ///< bytes added to the location of a surface's state
  /// Index of a surface, location of its state, or for other memory the base of all addresses; may be none.
  Operand surface;
  mem::AtomicOp atomic = mem::AtomicOp::and_;
  // addresses
  ir::Type address = ir::Type::u64;  ///< type of an address; arithmetic on it wraps around
  std::uint16_t scale = 1;
  std::array<std::int32_t, 3> offset{};  ///< bytes; block2d and typed: for x, y, z
  std::array<Operand, 6> addresses;
  // data
  ir::Type memory = ir::Type::u32;  ///< one element in memory
  ir::Type unit = ir::Type::u32;    ///< what holds an element in registers, zero-extended
  bool high_half = false;           ///< the element is in the high half of its unit
  bool transposed = false;          ///< elements of an address are adjacent in registers
  std::uint64_t components = 1;     ///< mask of the elements transferred from an address on
  Operand dst;                      ///< none or null: nothing is returned
  std::array<Operand, 2> data;      ///< of stores, sources of atomics
  // blocks
  std::uint8_t blocks = 1;
  std::uint16_t width = 0, height = 0;     ///< elements; typed: bytes, rows
  std::uint32_t room = ~std::uint32_t{0};  ///< LoadBlock2d: bytes that may be written from the destination on
  bool vnni = false;  ///< elements that share a dword of a row come from neighbouring rows

  bool returns() const { return dst.kind == OperandKind::Register; }
};

}  // namespace eum::eu
