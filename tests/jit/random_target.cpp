#include "tests/jit/random_target.hpp"

namespace eum::jit::test {

using namespace ir;

namespace {

struct Choice {
  Random& random;
  unsigned below(unsigned n) const { return static_cast<unsigned>(random() % n); }
  bool chance(unsigned percent) const { return below(100) < percent; }
};

}  // namespace

RandomTarget random_target(Random& random) {
  using MA = MemoryAccess;
  const Choice choice{random};
  switch (choice.below(14)) {
    case 13: {
      MA access = MA::in(choice.chance(50) ? MemSpace::From : MemSpace::FromUnsigned);
      access.scale = choice.chance(50) ? 1u << choice.below(4) : 1 + choice.below(20);
      return {access, 0, static_cast<unsigned>(World::region_bytes / access.scale)};
    }
    case 12:
      return {MA::in(choice.chance(50) ? MemSpace::Bindless : MemSpace::States), 0, World::buffer_bytes};
    case 0:
    case 10:
      return {MA::in(MemSpace::Slm), 0, World::slm_bytes};
    case 1:
      return {MA::in_surface(World::null_surface), 0, 64};
    case 2:
    case 3:
      return {MA::in(MemSpace::A64), World::region, World::region_bytes};
    case 4:
      return {MA::in(MemSpace::A32), World::low_region, World::low_region_bytes};
    case 5:
      return {MA::in(MemSpace::A32), World::callbacks, World::callbacks_bytes};
    case 6:
      return {MA::in(MemSpace::Scratch), 0, World::scratch_bytes};
    case 11:
      return {MA::in_surface(World::indirect_surface), 0, World::region_bytes};
    default:  // or slightly beyond its end
      return {MA::in_surface(World::surface), 0, choice.chance(50) ? 1024 : World::surface_bytes};
  }
}

void choose_components(Random& random, Op op, Type type, MemoryAccess& access) {
  const Choice choice{random};
  access.components = choice.chance(40)   ? 1
                      : choice.chance(40) ? 1u << choice.below(4)
                      : choice.chance(80) ? 1 + choice.below(15)
                                          : 1 + choice.below(255);
  if (op == Op::probe) return;
  if (size_of(type) > 1 && choice.chance(30))
    access.part_bytes = static_cast<std::uint8_t>(size_of(type) / 2);
  access.several = info(access.space).bounded_reads && access.offset == 0 && choice.chance(30);
}

}  // namespace eum::jit::test
