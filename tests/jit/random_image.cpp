#include "tests/jit/random_image.hpp"

#include <bit>

namespace eum::jit::test {

RandomImage random_image(ir::Op op, Random& random) {
  static constexpr unsigned surfaces[] = {World::image, World::color_image, World::cut_image,
                                          World::null_surface, World::indirect_surface};
  const auto below = [&](std::uint64_t n) { return static_cast<unsigned>(random() % n); };
  const auto chance = [&](unsigned percent) { return below(100) < percent; };
  RandomImage out;
  ir::ImageAccess& image = out.image;
  image.surface = static_cast<std::uint8_t>(surfaces[below(chance(90) ? 2 : std::size(surfaces))]);
  image.bindless = chance(3);
  if (image.bindless) {
    image.surface = static_cast<std::uint8_t>(chance(90) ? World::image_state : below(256));
    if (chance(50)) image.heap = mem::image::SurfaceHeap::States;
  }
  image.surface_is_operand = image.bindless || chance(20);
  const bool media = op == ir::Op::media_read || op == ir::Op::media_write;
  const bool slots = op != ir::Op::sample && !media && chance(20);  // of SIMD4x2
  out.lanes = slots ? 2 : media || chance(50) ? 8 : 16;
  switch (op) {
    case ir::Op::sample:
      image.sample = static_cast<mem::image::SampleOp>(below(mem::image::sample_op_table.size()));
      image.half = chance(20);
      out.coordinates = mem::image::info(image.sample).parameters.count;
      out.results = below(5);
      break;
    case ir::Op::typed_read:
    case ir::Op::typed_write: {
      out.coordinates = 1 + below(4);
      image.components = static_cast<std::uint8_t>(1 + below(15));
      const auto components = static_cast<unsigned>(std::popcount(image.components));
      (op == ir::Op::typed_read ? out.results : out.values) = components;
      break;
    }
    case ir::Op::typed_atomic:
      image.counter = chance(10);
      out.coordinates = image.counter ? 0 : 2;
      image.atomic = static_cast<ir::AtomicOp>(below(mem::atomic_table.size()));
      out.values = mem::info(image.atomic).operands;
      out.results = below(2);
      break;
    default:
      image.scalars = ir::media_scalars;
      out.scalars = {below(20) - 2, below(20) - 2, below(4) << 16 | below(16)};
      (op == ir::Op::media_read ? out.results : out.values) = 2;
  }
  if (op != ir::Op::sample) image.coordinates = static_cast<std::uint8_t>(out.coordinates);
  return out;
}

}  // namespace eum::jit::test
