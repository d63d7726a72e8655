#pragma once
// TypedEmitter: the kernel of one typed read or write on one surface. Atomics have none.
#include "memory/image/kernels/emitter.hpp"
#include "memory/image/message.hpp"

namespace eum::mem::image::kernels {

bool has_kernel(const TypedMessage& message, const SurfaceState& surface);

class TypedEmitter : public Emitter {
 public:
  TypedEmitter(std::byte* pages, std::size_t size, const TypedMessage& message, const SurfaceState& surface);

 private:
  Address operand(unsigned k) const;
  void group();
  /// Byte offsets in ymm0, the lanes that are inside in ymm3.
  void place(const Level& level);
  void read(const Level& level);
  void write(const Level& level);
  /// Adds to dword `plane` of the texels, of which only the bits `given` are set, the others from memory.
  void keep_bits(const Ymm& texel, const Level& level, unsigned plane, std::uint32_t given);
  /// Stores what `texel` holds where the lanes' offsets are consecutive, and jumps to `done`.
  void store_consecutive(const Level& level, Xbyak::Label& done);
  void store_lanes(const Level& level);

  const TypedMessage& message_;
  unsigned group_ = 0;
};

}  // namespace eum::mem::image::kernels
