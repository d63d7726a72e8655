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
  /// Computes byte offsets in ymm0 and the mask of lanes that are inside in ymm3.
  void place(const Level& level);
  void read(const Level& level);
  void write(const Level& level);
  /// Merges the bits in memory into dword `plane` of the texels, of which only the bits `given` are set.
  void keep_bits(const Ymm& texel, const Level& level, unsigned plane, std::uint32_t given);
  /// Stores `texel` and jumps to `done` if the lanes' offsets are consecutive.
  void store_consecutive(const Level& level, Xbyak::Label& done);
  void store_lanes(const Level& level);

  const TypedMessage& message_;
  unsigned group_ = 0;
};

}  // namespace eum::mem::image::kernels
