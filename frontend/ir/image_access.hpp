#pragma once
// What an image op accesses, besides its lanes and operands: an entry of a side table of the function, like
// MemoryAccess. The operands are the surface's index if it is an operand, then `scalars` one-lane values,
// then values with one element per lane.
#include <cstdint>

#include "memory/image/message.hpp"
#include "memory/image/state_heap.hpp"

namespace eum::ir {

struct ImageAccess {
  std::uint8_t surface = 0;  ///< index in the binding table
  bool surface_is_operand = false;
  bool bindless = false;  ///< the operand is the byte offset of the surface's state in `heap`
  mem::image::SurfaceHeap heap = mem::image::SurfaceHeap::Bindless;
  /// Number of one-lane operands. sample: 0, or the two meaningful words of a header, SampleControl and the
  /// pointer to the sampler table. media_read, media_write: 3 words of a header, x, y and the block's size.
  std::uint8_t scalars = 0;
  // sample
  mem::image::SampleOp sample = mem::image::SampleOp::sample;
  std::uint8_t sampler = 0;  ///< index in the sampler table
  bool half = false;         ///< results are 16 bits, in the low half of each
  // typed_read, typed_write, typed_atomic
  std::uint8_t coordinates = 0;  ///< how many the message gives, 1 to 4: u, v, r, lod; 0 with `counter`
  bool counter = false;          ///< typed_atomic: on the surface's append counter
  std::uint8_t components = 0;   ///< mask, bit 0 is red; unused by atomics
  mem::AtomicOp atomic = mem::AtomicOp::and_;
  // media_read, media_write
  std::uint8_t vertical_stride = 0;  ///< override, bits 10:8 of the descriptor

  constexpr bool operator==(const ImageAccess&) const = default;
};

/// `scalars` of a sample with a header, and of media blocks.
inline constexpr unsigned sample_header_scalars = 2, media_scalars = 3;

}  // namespace eum::ir
