#pragma once
// Random image ops on the images of World: which op, and how many operands it takes.
#include "tests/jit/world.hpp"

namespace eum::jit::test {

struct RandomImage {
  ir::ImageAccess image;
  unsigned lanes = 8;
  std::array<std::uint32_t, ir::media_scalars> scalars{};  ///< the first image.scalars of them
  unsigned coordinates = 0;                                ///< operands before the `values`
  unsigned values = 0;
  unsigned results = 0;
};

/// `op` is one whose shape has an Image attribute.
RandomImage random_image(ir::Op op, Random& random);

}  // namespace eum::jit::test
