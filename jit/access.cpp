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
    Elsewhere,  ///< in the address space, but not in one piece of host memory
    Fault,
  } kind = Kind::Fault;
  std::byte* host = nullptr;
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
  Memory(const Environment& environment, const Access& access, Fault& fault)
      : environment_(environment), access_(access), fault_(fault) {}

  Place find(const Element& element, mem::Access wanted) const {
    switch (access_.mem.space) {
      case ir::MemSpace::Surface: {
        if (environment_.surfaces == nullptr) return {Place::Kind::Nowhere};
        const mem::Surface& surface = environment_.surfaces[access_.mem.surface];
        if (!element.inside(surface.size)) return {Place::Kind::Nowhere};
        return {Place::Kind::Host, surface.base + element.address()};
      }
      case ir::MemSpace::Scratch:
        if (!element.inside(environment_.scratch_bytes)) return {};
        return {Place::Kind::Host, environment_.scratch + element.address()};
      case ir::MemSpace::A64:
      case ir::MemSpace::A32:
        break;
    }
    if (environment_.space == nullptr || element.offset > ~element.base) return {};
    const mem::Region* region = environment_.space->find(element.address());
    if (region == nullptr) return {};
    const bool whole = element.bytes <= region->size - (element.address() - region->address);
    if (!whole || region->host == nullptr) return {Place::Kind::Elsewhere};
    if (!mem::allows(region->access, wanted)) return {};
    return {Place::Kind::Host, region->host + (element.address() - region->address)};
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
        if (!environment_.space->read(element.address(), {to, element.bytes})) return true;
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
        if (!environment_.space->write(element.address(), {from, element.bytes})) return true;
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
  const Environment& environment_;
  const Access& access_;
  Fault& fault_;
};

std::uint64_t address_of(const Access& access, const void* addresses, unsigned lane) {
  const unsigned bytes = ir::size_of(access.address_type);
  std::uint64_t address = 0;
  std::memcpy(&address, static_cast<const std::byte*>(addresses) + lane * bytes, bytes);
  return address;
}

bool in_mask(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// Calls visit(element, lane, byte offset in the data) for each element of each lane until one returns false.
template <class Visit>
bool for_each_element(const Access& access, const void* addresses, Visit visit) {
  const unsigned bytes = ir::size_of(access.type);
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    const std::uint64_t base = address_of(access, addresses, lane);
    std::size_t at = lane * bytes;
    for (unsigned component = 0; component < 8; ++component) {
      if ((access.mem.components >> component & 1) == 0) continue;
      if (!visit(Element{base, component * bytes, bytes}, lane, at)) return false;
      at += std::size_t{access.lanes} * bytes;
    }
  }
  return true;
}

template <class U>
bool atomic_lanes(const Memory& memory, const Access& access, const void* addresses, std::byte* data,
                  std::uint32_t mask) {
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    U result = 0;
    std::byte* const at = data + lane * sizeof(U);
    if (in_mask(mask, lane)) {
      U sources[2] = {};
      for (unsigned k = 0; k < access.source_count; ++k)
        std::memcpy(&sources[k], at + k * access.lanes * sizeof(U), sizeof(U));
      const Element element{address_of(access, addresses, lane), 0, sizeof(U)};
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

Access Access::of(const ir::Inst& inst) {
  Access access;
  access.mem = inst.mem;
  access.type = inst.type;
  access.address_type = inst.from;
  access.lanes = inst.lanes;
  access.returns = inst.result_count != 0;
  access.source_count = static_cast<std::uint8_t>(inst.arg_count - 1);
  access.guest_ip = inst.guest_ip;
  return access;
}

bool load(const Environment& environment, const Access& access, const void* addresses, void* data,
          std::uint32_t mask, Fault& fault) {
  const Memory memory(environment, access, fault);
  auto* const bytes = static_cast<std::byte*>(data);
  return for_each_element(access, addresses, [&](const Element& element, unsigned lane, std::size_t at) {
    if (in_mask(mask, lane)) return memory.read(element, lane, bytes + at);
    std::memset(bytes + at, 0, element.bytes);
    return true;
  });
}

bool store(const Environment& environment, const Access& access, const void* addresses, const void* data,
           std::uint32_t mask, Fault& fault) {
  const Memory memory(environment, access, fault);
  const auto* const bytes = static_cast<const std::byte*>(data);
  return for_each_element(access, addresses, [&](const Element& element, unsigned lane, std::size_t at) {
    return !in_mask(mask, lane) || memory.write(element, lane, bytes + at);
  });
}

bool atomic(const Environment& environment, const Access& access, const void* addresses, void* data,
            std::uint32_t mask, Fault& fault) {
  const Memory memory(environment, access, fault);
  auto* const bytes = static_cast<std::byte*>(data);
  return ir::size_of(access.type) == 8 ? atomic_lanes<std::uint64_t>(memory, access, addresses, bytes, mask)
                                       : atomic_lanes<std::uint32_t>(memory, access, addresses, bytes, mask);
}

bool block_load(const Environment& environment, const Access& access, const void* address, void* data,
                Fault& fault) {
  const Memory memory(environment, access, fault);
  const std::uint64_t base = address_of(access, address, 0);
  const unsigned bytes = ir::size_of(access.type);
  for (unsigned i = 0; i < access.lanes; ++i)
    if (!memory.read({base, i * bytes, bytes}, i, static_cast<std::byte*>(data) + i * bytes)) return false;
  return true;
}

bool block_store(const Environment& environment, const Access& access, const void* address, const void* data,
                 Fault& fault) {
  const Memory memory(environment, access, fault);
  const std::uint64_t base = address_of(access, address, 0);
  const unsigned bytes = ir::size_of(access.type);
  for (unsigned i = 0; i < access.lanes; ++i)
    if (!memory.write({base, i * bytes, bytes}, i, static_cast<const std::byte*>(data) + i * bytes))
      return false;
  return true;
}

}  // namespace eum::jit
