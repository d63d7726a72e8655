#include "memory/surface.hpp"

#include "memory/address_space.hpp"

namespace eum::mem {

void resolve(Surface& surface, const AddressSpace& space) {
  if (surface.base != nullptr || surface.size == 0) return;
  const Region* region = space.find(surface.gpu_address);
  if (region == nullptr || region->host == nullptr || !allows(region->access, Access::ReadWrite)) return;
  const std::uint64_t offset = surface.gpu_address - region->address;
  if (surface.size > region->size - offset) return;
  surface.base = region->host + offset;
  surface.direct = surface.size;
}

}  // namespace eum::mem
