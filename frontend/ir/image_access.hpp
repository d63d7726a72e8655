#pragma once
// What an op asks of an image, beside its lanes and operands: a side table of the function, as MemoryAccess
// is. The operands are the surface's index if that is one, then `scalars` values of one lane, then one value
// a lane each.
#include <cstdint>

#include "memory/image/message.hpp"
#include "memory/image/state_heap.hpp"

namespace eum::ir {

struct ImageAccess {
  std::uint8_t surface = 0;  ///< index in the binding table
  bool surface_is_operand = false;
  bool bindless = false;  ///< the operand is where the surface's state lies, bytes from the start of `heap`
  mem::image::SurfaceHeap heap = mem::image::SurfaceHeap::Bindless;
  /// Operands of one lane. sample: 0, or the two words of a header that mean something, SampleControl and the
  /// pointer to the table of samplers. media_read, media_write: 3 words of a header, x, y and the block's
  /// size.
  std::uint8_t scalars = 0;
  // sample
  mem::image::SampleOp sample = mem::image::SampleOp::sample;
  std::uint8_t sampler = 0;  ///< index in the table of samplers
  bool half = false;         ///< results are 16 bits, in the low half of each
  // typed_read, typed_write, typed_atomic
  std::uint8_t coordinates = 0;  ///< of 1 to 4 that the message gives: u, v, r, lod; none of `counter`
  bool counter = false;          ///< typed_atomic: on the surface's append counter
  std::uint8_t components = 0;   ///< mask, bit 0 red; not of atomics
  mem::AtomicOp atomic = mem::AtomicOp::and_;
  // media_read, media_write
  std::uint8_t vertical_stride = 0;  ///< override, bits 10:8 of the descriptor

  constexpr bool operator==(const ImageAccess&) const = default;
};

/// scalars of a sample with a header, and of media blocks.
inline constexpr unsigned sample_header_scalars = 2, media_scalars = 3;

}  // namespace eum::ir
