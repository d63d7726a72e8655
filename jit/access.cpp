// Each element of an access is resolved by itself, to host memory or to callbacks of the address space.
#include "jit/access.hpp"

#include <cstring>

#include "memory/address_space.hpp"
#include "memory/atomics.hpp"
#include "memory/surface.hpp"

namespace eum::jit {
namespace {

using mem::Access::Read;
using mem::Access::ReadWrite;
using mem::Access::Write;

/// Where one element is.
struct Place {
  enum class Kind : std::uint8_t {
    Host,       ///< at `host`
    Nowhere,    ///< outside a surface: reads 0, writes are dropped
    Elsewhere,  ///< at `address` of the address space, but not in one piece of host memory
    Fault,      ///< not there, or not for this access
  } kind = Kind::Fault;
  std::byte* host = nullptr;
  std::uint64_t address = 0;
};

/// Element `bytes` long at base + offset, where the addition must not wrap around.
struct Element {
  std::uint64_t base;
  std::uint64_t offset;
  unsigned bytes;

  std::uint64_t address() const { return base + offset; }
  bool inside(std::uint64_t size) const {
    return base <= size && offset <= size - base && bytes <= size - base - offset;
  }
};

class Memory {
 public:
  Memory(const Environment& environment, const Access& access, const AccessOperands& operands, Fault& fault)
      : environment_(environment), access_(access), surface_(operands.surface), fault_(fault) {}

  Place find(const Element& element, mem::Access wanted) const {
    switch (access_.mem.space) {
      case ir::MemSpace::Surface: {
        if (environment_.surfaces == nullptr || surface_ >= mem::binding_table_size)
          return {Place::Kind::Nowhere};
        const mem::Surface& surface = environment_.surfaces[surface_];
        if (!element.inside(surface.size)) return {Place::Kind::Nowhere};
        if (surface.base != nullptr) return {Place::Kind::Host, surface.base + element.address()};
        return find_address(surface.gpu_address + element.address(), element.bytes, wanted);
      }
      case ir::MemSpace::Slm:
        if (!element.inside(environment_.slm_bytes)) return {Place::Kind::Nowhere};
        return {Place::Kind::Host, environment_.slm + element.address()};
      case ir::MemSpace::Scratch:
        if (!element.inside(environment_.scratch_bytes)) return {};
        return {Place::Kind::Host, environment_.scratch + element.address()};
      case ir::MemSpace::A32:
        if (!element.inside(std::uint64_t{1} << 32)) return {};
        return find_address(element.address(), element.bytes, wanted);
      case ir::MemSpace::A64:
        if (element.offset > ~element.base) return {};
        return find_address(element.address(), element.bytes, wanted);
    }
    return {};
  }

  bool read(const Element& element, unsigned lane, std::byte* to) const {
    const Place place = find(element, Read);
    switch (place.kind) {
      case Place::Kind::Host:
        std::memcpy(to, place.host, element.bytes);
        return true;
      case Place::Kind::Nowhere:
        std::memset(to, 0, element.bytes);
        return true;
      case Place::Kind::Elsewhere:
        if (!environment_.space->read(place.address, {to, element.bytes})) return true;
        break;
      case Place::Kind::Fault:
        break;
    }
    return refuse(FaultKind::OutOfBounds, element, lane);
  }

  bool write(const Element& element, unsigned lane, const std::byte* from) const {
    const Place place = find(element, Write);
    switch (place.kind) {
      case Place::Kind::Host:
        std::memcpy(place.host, from, element.bytes);
        return true;
      case Place::Kind::Nowhere:
        return true;
      case Place::Kind::Elsewhere:
        if (!environment_.space->write(place.address, {from, element.bytes})) return true;
        break;
      case Place::Kind::Fault:
        break;
    }
    return refuse(FaultKind::OutOfBounds, element, lane);
  }

  bool refuse(FaultKind kind, const Element& element, unsigned lane) const {
    fault_ = {kind, access_.guest_ip, lane, element.bytes, element.address()};
    return false;
  }

 private:
  Place find_address(std::uint64_t address, unsigned bytes, mem::Access wanted) const {
    if (environment_.space == nullptr) return {};
    const mem::Region* region = environment_.space->find(address);
    if (region == nullptr) return {};
    const std::uint64_t offset = address - region->address;
    if (bytes > region->size - offset || region->host == nullptr)
      return {Place::Kind::Elsewhere, nullptr, address};
    if (!mem::allows(region->access, wanted)) return {};
    return {Place::Kind::Host, region->host + offset};
  }

  const Environment& environment_;
  const Access& access_;
  std::uint32_t surface_;
  Fault& fault_;
};

std::uint64_t address_of(const Access& access, const AccessOperands& operands, unsigned lane) {
  const unsigned bytes = ir::size_of(access.address_type());
  std::uint64_t address = 0;
  std::memcpy(&address, static_cast<const std::byte*>(operands.addresses) + lane * bytes, bytes);
  return address;
}

bool in_mask(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// Calls visit(element, lane, byte offset in the data) for each element of each lane until one returns false.
template <class Visit>
bool for_each_element(const Access& access, const AccessOperands& operands, Visit visit) {
  const unsigned bytes = ir::size_of(access.type), components = access.mem.component_count();
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    const std::uint64_t base = address_of(access, operands, lane);
    for (unsigned k = 0; k < components; ++k) {
      const std::uint64_t offset = access.mem.offset + std::uint64_t{access.mem.component(k)} * bytes;
      if (!visit(Element{base, offset, bytes}, lane, (std::size_t{k} * access.lanes + lane) * bytes))
        return false;
    }
  }
  return true;
}

/// The same for the elements of a block.
template <class Visit>
bool for_each_of_block(const Access& access, const AccessOperands& operands, Visit visit) {
  const std::uint64_t base = address_of(access, operands, 0);
  const unsigned bytes = ir::size_of(access.type);
  for (unsigned i = 0; i < access.lanes; ++i)
    if (!visit(Element{base, access.mem.offset + std::uint64_t{i} * bytes, bytes}, i, std::size_t{i} * bytes))
      return false;
  return true;
}

template <class U>
bool atomic_lanes(const Memory& memory, const Access& access, const AccessOperands& operands,
                  std::byte* data) {
  const unsigned source_count = mem::info(access.mem.atomic).operands;
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    U result = 0;
    std::byte* const at = data + lane * sizeof(U);
    if (in_mask(operands.mask, lane)) {
      U sources[2] = {};
      for (unsigned k = 0; k < source_count; ++k)
        std::memcpy(&sources[k], at + k * access.lanes * sizeof(U), sizeof(U));
      const Element element{address_of(access, operands, lane), access.mem.offset, sizeof(U)};
      const Place place = memory.find(element, ReadWrite);
      switch (place.kind) {
        case Place::Kind::Host:
          if (reinterpret_cast<std::uintptr_t>(place.host) % sizeof(U) != 0)
            return memory.refuse(FaultKind::Misaligned, element, lane);
          result = mem::perform_atomic<U>(access.mem.atomic, place.host, sources[0], sources[1]);
          break;
        case Place::Kind::Nowhere:
          break;
        case Place::Kind::Elsewhere:
        case Place::Kind::Fault:
          return memory.refuse(FaultKind::OutOfBounds, element, lane);
      }
    }
    if (access.returns) std::memcpy(at, &result, sizeof(U));
  }
  return true;
}

}  // namespace

Access Access::of(const ir::Function& function, const ir::Inst& inst) {
  Access access;
  access.mem = function.access(inst);
  access.type = inst.type;
  access.lanes = inst.lanes;
  access.returns = inst.result_count != 0;
  access.guest_ip = inst.guest_ip;
  return access;
}

bool load(const Environment& environment, const Access& access, const AccessOperands& operands, void* data,
          Fault& fault) {
  const Memory memory(environment, access, operands, fault);
  auto* const bytes = static_cast<std::byte*>(data);
  return for_each_element(access, operands, [&](const Element& element, unsigned lane, std::size_t at) {
    if (in_mask(operands.mask, lane)) return memory.read(element, lane, bytes + at);
    std::memset(bytes + at, 0, element.bytes);
    return true;
  });
}

bool store(const Environment& environment, const Access& access, const AccessOperands& operands,
           const void* data, Fault& fault) {
  const Memory memory(environment, access, operands, fault);
  const auto* const bytes = static_cast<const std::byte*>(data);
  return for_each_element(access, operands, [&](const Element& element, unsigned lane, std::size_t at) {
    return !in_mask(operands.mask, lane) || memory.write(element, lane, bytes + at);
  });
}

bool atomic(const Environment& environment, const Access& access, const AccessOperands& operands, void* data,
            Fault& fault) {
  const Memory memory(environment, access, operands, fault);
  auto* const bytes = static_cast<std::byte*>(data);
  return ir::size_of(access.type) == 8 ? atomic_lanes<std::uint64_t>(memory, access, operands, bytes)
                                       : atomic_lanes<std::uint32_t>(memory, access, operands, bytes);
}

bool block_load(const Environment& environment, const Access& access, const AccessOperands& operands,
                void* data, Fault& fault) {
  const Memory memory(environment, access, operands, fault);
  auto* const bytes = static_cast<std::byte*>(data);
  return for_each_of_block(access, operands, [&](const Element& element, unsigned i, std::size_t at) {
    return memory.read(element, i, bytes + at);
  });
}

bool block_store(const Environment& environment, const Access& access, const AccessOperands& operands,
                 const void* data, Fault& fault) {
  const Memory memory(environment, access, operands, fault);
  const auto* const bytes = static_cast<const std::byte*>(data);
  return for_each_of_block(access, operands, [&](const Element& element, unsigned i, std::size_t at) {
    return memory.write(element, i, bytes + at);
  });
}

}  // namespace eum::jit
