#pragma once
// A message as the EU sends it: registers of payload and response, and the requested memory operation. It
// must not know descriptors or shared function numbers.
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/eu/operand.hpp"
#include "frontend/ir/image_access.hpp"
#include "frontend/ir/memory_access.hpp"

namespace eum::eu {

class MessageLowering;
/// Lowers a message; the functions are listed in messages/message_lowering.hpp.
using MessageHandler = void (*)(MessageLowering&);

/// Whole general registers: byte offset of the first in the register file, and how many.
struct RegisterRange {
  std::uint32_t offset = 0;
  std::uint16_t count = 0;
};

/// The unit of the addresses of a scattered message and of the global offset in its header.
enum class OffsetUnit : std::uint8_t {
  None,  ///< there is no global offset; a header names slots
  Bytes,
  Dwords,
};

/// The operands of a message from a front end without headers and descriptors.
struct MessageOperands {
  Operand surface;  ///< index in the binding table; none: it is in Message
  /// One-lane values. Scattered and block messages: the base of addresses. Sampler: texel offsets and masked
  /// channels as in a header. Media block: x, y, size as in a header.
  std::array<Operand, 3> scalars;
  std::vector<RegisterRange> payload;  ///< replaces Message::payload, one per parameter
};

struct Message {
  MessageHandler lower = nullptr;
  ir::MemoryAccess memory;  ///< space, surface, cache hint and atomic; lowering adds offset and components
  ir::ImageAccess image;    ///< surface, sampler and operation; lowering adds what the payload determines
  std::array<RegisterRange, 2> payload;       ///< the second for split sends only
  RegisterRange response;                     ///< none if nothing is returned
  const MessageOperands* operands = nullptr;  ///< owned by the program
  std::uint32_t offset = 0;                   ///< Scratch: bytes
  std::uint32_t state_offset = 0;  ///< bindless image: bytes from the heap's base to the surface's state
  std::uint8_t channels = 1;       ///< number of channels it serves; 1 for blocks
  bool header = false;             ///< the first register of the payload is a header
  bool write = false;
  bool returns = false;             ///< atomic: the old value is returned
  bool by_channel = false;          ///< Scratch: each dword of a register belongs to a channel
  bool high_half = false;           ///< one-oword block that uses the high half of its register
  bool high_slots = false;          ///< typed: the mask in the header is for channels 8 to 15
  bool lod_second = false;          ///< sampler: the level of detail comes after u, not after v
  bool header_picks_slots = false;  ///< sampler: two slots only if the header says so
  bool ends_thread = false;         ///< the thread ends with this message
  std::uint8_t components = 1;      ///< mask of the consecutive elements that a channel transfers
  std::uint8_t element_count = 1;   ///< of a block: owords or registers
  std::uint8_t address_unit = 1;    ///< bytes per unit of a block's offset
  OffsetUnit offset_unit = OffsetUnit::None;
  std::uint16_t memory_bits = 0;    ///< one element in memory
  std::uint16_t register_bits = 0;  ///< one element in the payload

  std::span<const RegisterRange> ranges() const {
    return operands != nullptr ? std::span<const RegisterRange>(operands->payload) : payload;
  }
  unsigned payload_registers() const {
    unsigned count = 0;
    for (const RegisterRange& range : ranges()) count += range.count;
    return count;
  }
  unsigned elements() const { return static_cast<unsigned>(std::popcount(components)); }
};

}  // namespace eum::eu
