// Each element of an access is resolved separately, to host memory or to callbacks of the address space.
#include "jit/access.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "memory/address_space.hpp"
#include "memory/atomics.hpp"
#include "memory/surface.hpp"

namespace eum::jit {
namespace {

using mem::Access::Read;
using mem::Access::ReadWrite;
using mem::Access::Write;

/// Where an element is.
struct Place {
  enum class Kind : std::uint8_t {
    Host,       ///< at `host`
    Nowhere,    ///< outside a surface: reads 0, writes are dropped
    Elsewhere,  ///< at the element's address, but not wholly in the host memory of a region
    Fault,      ///< unmapped, or the access is not allowed
  } kind = Kind::Fault;
  std::byte* host = nullptr;
  std::uint64_t address = 0;  ///< of the address space, for Elsewhere
};

/// Element `bytes` long at base + offset, where the addition must not wrap around.
struct Element {
  std::uint64_t base;
  std::uint64_t offset;
  unsigned bytes;

  std::uint64_t address() const { return base + offset; }
  bool wraps() const { return address() < base; }
  bool inside(std::uint64_t size) const { return !wraps() && address() <= size && bytes <= size - address(); }
};

/// Host memory that backs a range of the accessed space.
struct Window {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::byte* host = nullptr;

  /// Whether the whole element is inside.
  bool holds(const Element& element) const {
    const std::uint64_t at = element.address() - address;
    return !element.wraps() & (at <= size) & (element.bytes <= size - at);
  }
};

// Guest threads may race for guest memory; that is the guest's concern, not the thread sanitizer's.
// (Elsewhere the attribute would only keep g++ from inlining.)
#ifdef __SANITIZE_THREAD__
[[gnu::no_sanitize("thread")]]
#endif
void copy_element(std::byte* to, const std::byte* from, unsigned bytes) {
  switch (bytes) {  // constant sizes need no call
    case 1:
      return void(std::memcpy(to, from, 1));
    case 2:
      return void(std::memcpy(to, from, 2));
    case 4:
      return void(std::memcpy(to, from, 4));
    case 8:
      return void(std::memcpy(to, from, 8));
    default:
      std::memcpy(to, from, bytes);
  }
}

/// The memory behind one access.
class Memory {
 public:
  Memory(const Environment& environment, const Access& access, const AccessOperands& operands,
         mem::Access wanted, Fault& fault)
      : environment_(environment),
        access_(access),
        surface_index_(static_cast<std::uint32_t>(operands.surface)),
        wanted_(wanted),
        fault_(fault) {
    switch (access.mem.space) {
      case ir::MemSpace::Surface:
        outside_ = Place::Kind::Nowhere;
        if (environment.surfaces == nullptr || operands.surface >= mem::binding_table_size) return;
        surface_ = &environment.surfaces[operands.surface];
        if (surface_->base != nullptr) windows_[0] = {0, surface_->size, surface_->base};
        return;
      case ir::MemSpace::Slm:
        outside_ = Place::Kind::Nowhere;
        windows_[0] = {0, environment.slm_bytes, environment.slm};
        return;
      case ir::MemSpace::Scratch:
        windows_[0] = {0, environment.scratch_bytes, environment.scratch};
        return;
      case ir::MemSpace::Bindless:
        read_state(mem::image::SurfaceHeap::Bindless, operands);
        return;
      case ir::MemSpace::States:
        read_state(mem::image::SurfaceHeap::States, operands);
        return;
      case ir::MemSpace::A32:
      case ir::MemSpace::A64:
      case ir::MemSpace::From:
      case ir::MemSpace::FromUnsigned:
        return;
    }
  }

  /// False: `fault` holds the reason.
  bool usable() const { return usable_; }

  [[gnu::always_inline]] Place find(const Element& element) {
    // Lanes may alternate between two regions, which a branch predictor cannot predict.
    const bool in_first = windows_[0].holds(element);
    const Window& window = windows_[in_first ? 0 : 1];
    if (in_first | window.holds(element))
      return {Place::Kind::Host, window.host + (element.address() - window.address)};
    return find_outside_windows(element);
  }

  [[gnu::always_inline]] bool read(const Element& element, unsigned lane, std::byte* to) {
    const Place place = find(element);
    if (place.kind != Place::Kind::Host) return read_elsewhere(place, element, lane, to);
    copy_element(to, place.host, element.bytes);
    return true;
  }

  /// Reads `count` consecutive elements at once as far as they are in host memory, or all of them if the
  /// others read 0 and nobody observes that. Returns how many have been read.
  unsigned read_run(const Element& first, unsigned count, std::byte* to) {
    const Place place = find(first);
    const Window& window = windows_[0];
    if (place.kind != Place::Kind::Host || !window.holds(first)) return 0;
    const std::uint64_t left = window.address + window.size - first.address();
    const auto inside = static_cast<unsigned>(std::min<std::uint64_t>(count, left / first.bytes));
    copy_element(to, place.host, inside * first.bytes);
    if (outside_ != Place::Kind::Nowhere || observer() != nullptr) return inside;
    std::memset(to + inside * first.bytes, 0, (count - inside) * first.bytes);
    return count;
  }

  [[gnu::always_inline]] bool write(const Element& element, unsigned lane, const std::byte* from) {
    const Place place = find(element);
    if (place.kind != Place::Kind::Host) return write_elsewhere(place, element, lane, from);
    copy_element(place.host, from, element.bytes);
    return true;
  }

  /// Whether a read would succeed.
  bool holds(const Element& element) {
    const Place place = find(element);
    if (place.kind != Place::Kind::Elsewhere) return place.kind != Place::Kind::Fault;
    return environment_.space->find(place.address + element.bytes - 1) != nullptr;
  }

  void note_outside(const Element& element, unsigned lane) const {
    const BoundsObserver* found = observer();
    if (found == nullptr) return;
    const auto [ip, guest_lane] = access_.origin(lane);
    found->outside(found->context,
                   {ip, surface_index_, guest_lane, element.bytes, element.address(), wanted_ != Read});
  }

  FaultKind outside_fault() const {
    return access_.mem.space == ir::MemSpace::Scratch ? FaultKind::OutOfScratch : FaultKind::OutOfBounds;
  }

  bool refuse(FaultKind kind, const Element& element, unsigned lane) const {
    const auto [ip, guest_lane] = access_.origin(lane);
    fault_ = {kind, ip, guest_lane, element.bytes, element.address()};
    return false;
  }

 private:
  const BoundsObserver* observer() const {
    return access_.mem.space == ir::MemSpace::Surface ? environment_.bounds : nullptr;
  }

  [[gnu::noinline]] bool read_elsewhere(const Place& place, const Element& element, unsigned lane,
                                        std::byte* to) {
    if (place.kind == Place::Kind::Nowhere) {
      note_outside(element, lane);
      std::memset(to, 0, element.bytes);
      return true;
    }
    if (place.kind == Place::Kind::Elsewhere && !environment_.space->read(place.address, {to, element.bytes}))
      return true;
    return refuse(outside_fault(), element, lane);
  }

  [[gnu::noinline]] bool write_elsewhere(const Place& place, const Element& element, unsigned lane,
                                         const std::byte* from) {
    if (place.kind == Place::Kind::Nowhere) {
      note_outside(element, lane);
      return true;
    }
    if (place.kind == Place::Kind::Elsewhere &&
        !environment_.space->write(place.address, {from, element.bytes}))
      return true;
    return refuse(outside_fault(), element, lane);
  }

  [[gnu::noinline]] Place find_outside_windows(const Element& element) {
    switch (access_.mem.space) {
      case ir::MemSpace::Surface:  // a surface without host memory of its own is a range of the address space
      case ir::MemSpace::Bindless:
      case ir::MemSpace::States:
        if (surface_ == nullptr || surface_->base != nullptr || !element.inside(surface_->size))
          return {outside_};
        return find_address(surface_->gpu_address, element);
      case ir::MemSpace::A32:
        return element.inside(std::uint64_t{1} << 32) ? find_address(0, element) : Place{outside_};
      case ir::MemSpace::A64:
      case ir::MemSpace::From:
      case ir::MemSpace::FromUnsigned:
        return element.wraps() ? Place{outside_} : find_address(0, element);
      default:
        return {outside_};
    }
  }

  /// The element is at `start` + its own address. Its region becomes the window.
  Place find_address(std::uint64_t start, const Element& element) {
    if (environment_.space == nullptr) return {};
    const std::uint64_t address = start + element.address();
    const mem::Region* region = environment_.space->find(address);
    if (region == nullptr) return {};
    const std::uint64_t offset = address - region->address;
    if (element.bytes > region->size - offset || region->host == nullptr)
      return {Place::Kind::Elsewhere, nullptr, address};
    if (!mem::allows(region->access, wanted_)) return {};
    const bool wide = access_.mem.space != ir::MemSpace::A32 && ir::info(access_.mem.space).in_space;
    if (wide) windows_[1] = std::exchange(windows_[0], {region->address, region->size, region->host});
    return {Place::Kind::Host, region->host + offset};
  }

  /// Reads the surface that its state describes; not needed if no lane is active.
  [[gnu::noinline]] void read_state(mem::image::SurfaceHeap heap, const AccessOperands& operands) {
    outside_ = Place::Kind::Nowhere;
    if ((operands.mask & ir::lane_mask(access_.lanes)) == 0) return;
    mem::Surface& surface = described_.emplace();
    const mem::image::ImageFault failed =
        mem::image::read_surface(environment_.heap, environment_.space, surface_index_, surface, heap);
    if (failed) {
      const bool unmapped = failed.kind == mem::image::ImageFault::Kind::Unmapped;
      fault_ = {unmapped ? FaultKind::OutOfBounds : FaultKind::Image,
                access_.guest_ip,
                access_.first_lane,
                failed.bytes,
                failed.address,
                failed.reason};
      usable_ = false;
      return;
    }
    surface_ = &surface;
    if (surface.base != nullptr) windows_[0] = {0, surface.size, surface.base};
  }

  const Environment& environment_;
  const Access& access_;
  std::optional<mem::Surface> described_;
  bool usable_ = true;
  const mem::Surface* surface_ = nullptr;
  std::uint32_t surface_index_;
  std::array<Window, 2> windows_;  ///< of earlier accesses
  Place::Kind outside_ = Place::Kind::Fault;
  mem::Access wanted_;
  Fault& fault_;
};

constexpr std::byte zeros[8] = {};

bool in_mask(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// The addresses of the lanes; properties of the access are looked up once.
class Addresses {
 public:
  Addresses(const Access& access, const AccessOperands& operands)
      : packed_(static_cast<const std::byte*>(operands.addresses)),
        base_(access.mem.is_based() ? operands.surface : 0),
        scale_(access.mem.is_based() ? access.mem.scale : 1),
        offset_(access.mem.offset),
        is_wide_(ir::size_of(access.address_type()) == 8),
        is_signed_(access.mem.is_based() && ir::is_signed(access.address_type())),
        wraps_around_(access.mem.wraps_around()) {}

  [[gnu::always_inline]] std::uint64_t of(unsigned lane) const {
    if (is_wide_) return load<std::uint64_t>(lane);
    const auto distance = load<std::uint32_t>(lane);
    const std::uint64_t extended =
        is_signed_ ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(distance)}) : distance;
    return base_ + extended * scale_;
  }
  /// The first component, `bytes` long, that a lane may access.
  [[gnu::always_inline]] Element first_element(unsigned lane, unsigned bytes) const {
    if (wraps_around_) return {of(lane) + offset_, 0, bytes};
    return {of(lane), offset_, bytes};
  }

 private:
  template <class T>
  T load(unsigned lane) const {
    T value;
    std::memcpy(&value, packed_ + lane * sizeof value, sizeof value);
    return value;
  }

  const std::byte* packed_;
  std::uint64_t base_;
  std::uint32_t scale_, offset_;
  bool is_wide_, is_signed_, wraps_around_;
};

/// Calls visit(element, lane, byte offset in the data) for each element of each lane, or for its parts, until
/// one returns false.
template <class Visit>
bool for_each_element(const Access& access, const AccessOperands& operands, Visit visit) {
  const unsigned bytes = ir::size_of(access.type),
                 part = access.mem.part_bytes != 0 ? access.mem.part_bytes : bytes;
  const Addresses addresses(access, operands);
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    const Element first = addresses.first_element(lane, part);
    const auto part_at = [&](std::uint64_t distance) -> Element {
      if (access.mem.several) return {static_cast<std::uint32_t>(first.base + distance), 0, part};
      return {first.base, first.offset + distance, part};
    };
    std::size_t at = std::size_t{lane} * bytes;
    for (std::uint64_t left = access.mem.components; left != 0; left &= left - 1) {
      const std::uint64_t distance = std::uint64_t(std::countr_zero(left)) * bytes;
      for (unsigned behind = 0; behind < bytes; behind += part)
        if (!visit(part_at(distance + behind), lane, at + behind)) return false;
      at += std::size_t{access.lanes} * bytes;
    }
  }
  return true;
}

/// The first element of a block.
Element first_of_block(const Access& access, const AccessOperands& operands) {
  return Addresses(access, operands).first_element(0, ir::size_of(access.type));
}

/// Calls visit(element, number, byte offset in the data) for each element of the block that begins with
/// `first`, from number `begin` on, until one returns false.
template <class Visit>
bool for_each_of_block(const Access& access, const Element& first, unsigned begin, Visit visit) {
  const unsigned bytes = first.bytes;
  for (unsigned i = begin; i < access.lanes; ++i)
    if (!visit(Element{first.base, first.offset + std::uint64_t{i} * bytes, bytes}, i,
               std::size_t{i} * bytes))
      return false;
  return true;
}

template <class U>
bool atomic_lanes(Memory& memory, const Access& access, const AccessOperands& operands, std::byte* data) {
  const unsigned source_count = mem::info(access.mem.atomic).operands;
  const Addresses addresses(access, operands);
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    U result = 0;
    std::byte* const at = data + lane * sizeof(U);
    if (in_mask(operands.mask, lane)) {
      U sources[2] = {};
      for (unsigned k = 0; k < source_count; ++k)
        std::memcpy(&sources[k], at + k * access.lanes * sizeof(U), sizeof(U));
      const Element element = addresses.first_element(lane, sizeof(U));
      const Place place = memory.find(element);
      switch (place.kind) {
        case Place::Kind::Host:
          if (reinterpret_cast<std::uintptr_t>(place.host) % sizeof(U) != 0)
            return memory.refuse(FaultKind::Misaligned, element, lane);
          result = mem::perform_atomic<U>(access.mem.atomic, place.host, sources[0], sources[1]);
          break;
        case Place::Kind::Nowhere:
          memory.note_outside(element, lane);
          break;
        case Place::Kind::Elsewhere:
        case Place::Kind::Fault:
          return memory.refuse(memory.outside_fault(), element, lane);
      }
    }
    if (access.returns) std::memcpy(at, &result, sizeof(U));
  }
  return true;
}

}  // namespace

std::uint64_t address_of(const Access& access, const AccessOperands& operands, unsigned lane) {
  return Addresses(access, operands).of(lane);
}

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
  Memory memory(environment, access, operands, Read, fault);
  if (!memory.usable()) return false;
  auto* const bytes = static_cast<std::byte*>(data);
  return for_each_element(access, operands, [&](const Element& element, unsigned lane, std::size_t at) {
    if (in_mask(operands.mask, lane)) return memory.read(element, lane, bytes + at);
    copy_element(bytes + at, zeros, element.bytes);
    return true;
  });
}

bool probe(const Environment& environment, const Access& access, const AccessOperands& operands, void* data,
           Fault&) {
  Fault unused;
  Memory memory(environment, access, operands, Read, unused);
  auto* const bytes = static_cast<std::byte*>(data);
  return for_each_element(access, operands, [&](const Element& element, unsigned lane, std::size_t at) {
    const std::uint64_t found =
        in_mask(operands.mask, lane) && memory.usable() && memory.holds(element) ? 1 : 0;
    std::memcpy(bytes + at, &found, element.bytes);
    return true;
  });
}

bool store(const Environment& environment, const Access& access, const AccessOperands& operands,
           const void* data, Fault& fault) {
  Memory memory(environment, access, operands, Write, fault);
  if (!memory.usable()) return false;
  const auto* const bytes = static_cast<const std::byte*>(data);
  return for_each_element(access, operands, [&](const Element& element, unsigned lane, std::size_t at) {
    return !in_mask(operands.mask, lane) || memory.write(element, lane, bytes + at);
  });
}

bool atomic(const Environment& environment, const Access& access, const AccessOperands& operands, void* data,
            Fault& fault) {
  Memory memory(environment, access, operands, ReadWrite, fault);
  if (!memory.usable()) return false;
  auto* const bytes = static_cast<std::byte*>(data);
  switch (ir::size_of(access.type)) {
    case 2:
      return atomic_lanes<std::uint16_t>(memory, access, operands, bytes);
    case 4:
      return atomic_lanes<std::uint32_t>(memory, access, operands, bytes);
    default:
      return atomic_lanes<std::uint64_t>(memory, access, operands, bytes);
  }
}

bool block_load(const Environment& environment, const Access& access, const AccessOperands& operands,
                void* data, Fault& fault) {
  Memory memory(environment, access, operands, Read, fault);
  if (!memory.usable()) return false;
  auto* const bytes = static_cast<std::byte*>(data);
  const Element first = first_of_block(access, operands);
  const unsigned begin = memory.read_run(first, access.lanes, bytes);
  return for_each_of_block(access, first, begin, [&](const Element& element, unsigned i, std::size_t at) {
    return memory.read(element, i, bytes + at);
  });
}

bool block_store(const Environment& environment, const Access& access, const AccessOperands& operands,
                 const void* data, Fault& fault) {
  Memory memory(environment, access, operands, Write, fault);
  if (!memory.usable()) return false;
  const auto* const bytes = static_cast<const std::byte*>(data);
  const Element first = first_of_block(access, operands);
  return for_each_of_block(access, first, 0, [&](const Element& element, unsigned i, std::size_t at) {
    return memory.write(element, i, bytes + at);
  });
}

}  // namespace eum::jit
