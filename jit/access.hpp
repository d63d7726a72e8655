#pragma once
// The effect of the memory ops, shared: the reference engine and the slow paths of translated code call these
// functions. They must not know functions, blocks or how an engine holds its values.
#include "jit/analysis/shared_rows.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

/// The properties of a memory op that its effect depends on. Plain data, so that translated code can point at
/// one.
struct Access {
  ir::MemoryAccess mem;
  ir::Type type = ir::Type::u32;  ///< of the elements
  std::uint8_t lanes = 1;         ///< number of addresses; for block_load and block_store, of elements
  std::uint8_t first_lane = 0;    ///< number of lane 0 in faults and reports
  std::uint8_t region = 0;        ///< the entry of StateLayout's regions that translated code checks
  bool returns = false;           ///< an atomic returns its result
  std::uint32_t guest_ip = 0;
  SharedRows rows;

  ir::Type address_type() const { return ir::info(mem.space).address; }
  /// The guest's instruction that does lane `lane` of the access, and the number of the lane there.
  struct Origin {
    std::uint32_t guest_ip;
    unsigned lane;
  };
  Origin origin(unsigned lane) const {
    if (!rows.swapped()) return {guest_ip, first_lane + lane};
    const unsigned place = rows.place(lane);
    return {rows.ips[place % rows.parts],
            first_lane + lane / SharedRows::lanes * SharedRows::lanes + place / rows.parts};
  }
  /// The Access of an instruction whose shape has a Memory attribute.
  static Access of(const ir::Function& function, const ir::Inst& inst);
};

/// The run-time operands of a memory op.
struct AccessOperands {
  std::uint64_t surface = 0;        ///< interpreted by ir::SurfaceBy of the space
  const void* addresses = nullptr;  ///< packed, of Access::address_type()
  std::uint32_t mask = ~0u;         ///< active lanes; blocks ignore it
};

// `data` is a packed array of the elements: the k-th component in the set mem.components is at data + k *
// lanes * size, and its memory at address + mem.offset + c * size, where c is the number of its bit. Lanes
// outside `mask` touch no memory and load 0. Lanes act in order from lane 0; within a lane, components do.
//
// An element that is not wholly inside a surface reads 0, and a write of it is dropped; addresses do not wrap
// around. Where A64, A32 or scratch memory does not hold an element (or does not allow the access), `fault`
// is set, the result is false, and the effects of earlier lanes remain.

/// The address of a lane, or of a block's first element.
std::uint64_t address_of(const Access&, const AccessOperands&, unsigned lane);

[[nodiscard]] bool load(const Environment&, const Access&, const AccessOperands&, void* data, Fault& fault);
/// data = 1 for elements that load() would read, 0 for others; it succeeds.
[[nodiscard]] bool probe(const Environment&, const Access&, const AccessOperands&, void* data, Fault& fault);
[[nodiscard]] bool store(const Environment&, const Access&, const AccessOperands&, const void* data,
                         Fault& fault);

/// `data` holds the sources, source k at data + k * lanes * size; results, if the access returns any, are
/// written to data (0 for lanes outside the mask, and beyond a surface). An address that is not a multiple of
/// the element size is the fault Misaligned; memory reachable only by callbacks is the fault OutOfBounds.
/// Elements have 2, 4 or 8 bytes.
[[nodiscard]] bool atomic(const Environment&, const Access&, const AccessOperands&, void* data, Fault& fault);

/// Element i is at the single address + mem.offset + i * size and counts as lane i.
[[nodiscard]] bool block_load(const Environment&, const Access&, const AccessOperands&, void* data,
                              Fault& fault);
[[nodiscard]] bool block_store(const Environment&, const Access&, const AccessOperands&, const void* data,
                               Fault& fault);

}  // namespace eum::jit
