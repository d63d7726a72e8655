#pragma once
// The effect of the image ops, shared by all engines: from operands to the messages of memory/image. It must
// not know blocks or how an engine holds its values.
#include "jit/engine.hpp"

namespace eum::mem::image {
class KernelSite;
}

namespace eum::jit {

/// The properties of an image op that its effect depends on. Plain data, so that translated code can point at
/// one.
struct ImageSite {
  ir::Op op = ir::Op::sample;
  ir::ImageAccess image;
  std::uint8_t lanes = 1;
  std::uint8_t operands = 0;  ///< besides surface and scalars
  std::uint8_t results = 0;
  std::uint32_t guest_ip = 0;

  /// The site of an instruction whose shape has an Image attribute.
  static ImageSite of(const ir::Function& function, const ir::Inst& inst);
  /// Dwords of operands or results, whichever are more.
  std::size_t data_dwords() const { return std::size_t{lanes} * std::max(operands, results); }
};

/// The run-time operands of an image op.
struct ImageOperands {
  std::uint32_t surface = 0;  ///< index in the binding table; bindless: offset of the state
  std::uint32_t mask = ~0u;   ///< active lanes
  std::array<std::uint32_t, ir::media_scalars> scalars{};
};

/// `data` holds the operands, operand k of lane i at data[k * lanes + i]; results take their places. False:
/// `fault` is set, and the effects of earlier lanes remain.
[[nodiscard]] bool image_access(const Environment&, const ImageSite&, const ImageOperands&,
                                std::uint32_t* data, Fault& fault);

/// The same by host code made for just this message, if Environment::image_kernels has it; `kernel` belongs
/// to the site.
[[nodiscard]] bool fast_image_access(const Environment&, const ImageSite&, mem::image::KernelSite& kernel,
                                     const ImageOperands&, std::uint32_t* data, Fault& fault);

}  // namespace eum::jit
