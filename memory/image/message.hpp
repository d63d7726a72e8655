#pragma once
// What a message asks of an image, split into what its instruction says (compiled once) and what a thread
// supplies. Plain data.
#include <cstdint>

#include "memory/atomics.hpp"
#include "memory/image/sample_op.hpp"
#include "memory/image/state.hpp"

namespace eum::mem {
struct Surface;
class AddressSpace;
}  // namespace eum::mem

namespace eum::mem::image {

/// Fields of the second dword of a sampler message's header; all zero without a header.
struct SampleControl {
  std::uint32_t bits = 0;

  int offset(unsigned dimension) const {  ///< texels, -8 to 7; dimension 0 is u
    return static_cast<std::int32_t>(bits << (20 + 4 * dimension)) >> 28;
  }
  unsigned masked_channels() const { return bits >> 12 & 15; }  ///< bit 0 red: set if not returned
  unsigned gather_channel() const { return bits >> 16 & 3; }
  bool two_slots() const { return (bits >> 22 & 1) != 0; }  ///< chooses SIMD4x2 over SIMD8D
  bool null_mask() const { return (bits >> 23 & 1) != 0; }
};

/// Lanes of a message with two slots.
inline constexpr unsigned two_slots = 2;

/// The part of a sampler message that its instruction fixes.
struct SampleMessage {
  SampleOp op = SampleOp::sample;
  std::uint8_t lanes = 8;       ///< 2 (SIMD4x2), 8, 16 or 32; quads are lanes 4k to 4k+3
  std::uint8_t parameters = 0;  ///< how many the message gives, from the start of the operation's list
  std::uint8_t results = 4;     ///< dwords returned per lane
  bool half = false;            ///< results are 16 bits, in the low half of each dword

  bool operator==(const SampleMessage&) const = default;
};

/// Input and output of the lanes. Parameter k of lane i is data[k * lanes + i], and result k is written to
/// the same place: data holds max(parameters, results) * lanes dwords. Lanes outside `mask` get 0. The
/// results are the channels that SampleControl does not mask, in order; results beyond those, up to
/// SampleMessage::results, are 0.
struct SampleCall {
  const Surface* surface = nullptr;
  const SamplerState* sampler = nullptr;
  SampleControl control;
  std::uint32_t mask = 0;
  std::uint32_t* data = nullptr;
  AddressSpace* space = nullptr;  ///< for surfaces without host memory; may be null
};

/// The part of a typed surface message that its instruction fixes: texel coordinates, then the components of
/// a write or the sources of an atomic. A Counter message is an atomic on the surface's append counter,
/// without coordinates.
struct TypedMessage {
  enum class Kind : std::uint8_t { Read, Write, Atomic, Counter } kind = Kind::Read;
  std::uint8_t lanes = 8;
  std::uint8_t coordinates = 3;  ///< how many of u, v, r, lod the message gives
  std::uint8_t components = 15;  ///< mask, bit 0 red; unused by atomics
  AtomicOp atomic = AtomicOp::and_;
  bool returns = false;  ///< the atomic returns its result

  bool operator==(const TypedMessage&) const = default;
  unsigned component_count() const { return static_cast<unsigned>(__builtin_popcount(components)); }
};

/// As in SampleCall: operand k of lane i is data[k * lanes + i], and result k is written there.
struct TypedCall {
  const Surface* surface = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t* data = nullptr;
  AddressSpace* space = nullptr;
};

/// A media block message.
struct MediaMessage {
  bool write = false;
  std::uint8_t width = 1;                     ///< bytes, 1 to 64
  std::uint8_t height = 1;                    ///< rows, 1 to 64
  std::uint8_t vertical_stride_override = 0;  ///< bits 10:8 of the descriptor
};

struct MediaCall {
  const Surface* surface = nullptr;
  std::int32_t x = 0;  ///< bytes from the left edge of the surface
  std::int32_t y = 0;  ///< rows from its top
  /// The block as laid out in registers: media_row_bytes(width) from row to row.
  std::byte* data = nullptr;
  AddressSpace* space = nullptr;
};

/// Bytes from row to row of a media block in registers: the width rounded up to a power of two, at least 4.
constexpr unsigned media_row_bytes(unsigned width) {
  unsigned bytes = 4;
  while (bytes < width) bytes *= 2;
  return bytes;
}

/// Why a message could not be carried out.
struct ImageFault {
  enum class Kind : std::uint8_t {
    None,
    Unmapped,     ///< the address space does not map that memory of the surface (or not for this access)
    Misaligned,   ///< an atomic at a misaligned address
    Unsupported,  ///< `reason` says what
  } kind = Kind::None;
  std::uint32_t lane = 0;
  std::uint32_t bytes = 0;  ///< of the texel, or of the row of a block
  std::uint64_t address = 0;
  const char* reason = nullptr;  ///< Unsupported: a literal

  explicit operator bool() const { return kind != Kind::None; }
};

// The definition of each message, one lane and one texel at a time. Unsupported formats and combinations of
// state are faults that say so. Lanes before the faulting one have already taken effect.

[[nodiscard]] ImageFault sample(const SampleMessage& message, const SampleCall& call);
[[nodiscard]] ImageFault typed_access(const TypedMessage& message, const TypedCall& call);
[[nodiscard]] ImageFault media_block(const MediaMessage& message, const MediaCall& call);

}  // namespace eum::mem::image
