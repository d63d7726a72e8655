#pragma once
// What the memory ops do, once: the reference engine and the slow paths of translated code call these
// functions. They must not know functions, blocks or how an engine holds its values.
#include "jit/engine.hpp"

namespace eum::jit {

/// A memory op as its effect needs it. Plain data, so that translated code can point at one.
struct Access {
  ir::MemoryAccess mem;
  ir::Type type = ir::Type::u32;  ///< of the elements
  std::uint8_t lanes = 1;         ///< addresses; for block_load and block_store elements
  std::uint8_t first_lane = 0;    ///< what lane 0 is called in faults and reports
  std::uint8_t region = 0;        ///< of StateLayout's regions, the one that translated code looks into
  bool returns = false;           ///< an atomic gives its result
  std::uint32_t guest_ip = 0;

  ir::Type address_type() const { return ir::info(mem.space).address; }
  /// The Access of an instruction whose shape has a Memory attribute.
  static Access of(const ir::Function& function, const ir::Inst& inst);
};

/// What the operands of a memory op hold at run time.
struct AccessOperands {
  std::uint64_t surface = 0;        ///< what ir::SurfaceBy of the space says
  const void* addresses = nullptr;  ///< packed, of Access::address_type()
  std::uint32_t mask = ~0u;         ///< lanes that take part; of blocks all do
};

// `data` is a packed array of the elements: the k-th component in the set mem.components at
// data + k * lanes * size, and it lies in memory at address + mem.offset + c * size, c the number of its bit.
// Lanes outside `mask` touch no memory and load 0. Lanes act in order from lane 0, within a lane the
// components do.
//
// An element that a surface does not hold as a whole reads 0, and is dropped when written; addresses do not
// wrap around. Where A64, A32 or scratch memory does not hold an element (or does not allow the access),
// `fault` is set, the result is false, and what lanes before it did stays done.

/// Of a lane, or of a block's first element.
std::uint64_t address_of(const Access&, const AccessOperands&, unsigned lane);

[[nodiscard]] bool load(const Environment&, const Access&, const AccessOperands&, void* data, Fault& fault);
/// data = 1 for elements that load() would read, 0 for others; it succeeds.
[[nodiscard]] bool probe(const Environment&, const Access&, const AccessOperands&, void* data, Fault& fault);
[[nodiscard]] bool store(const Environment&, const Access&, const AccessOperands&, const void* data,
                         Fault& fault);

/// `data` holds the sources, source k at data + k * lanes * size; results, if the access returns any, come
/// back at data (0 for lanes outside the mask, and beyond a surface). An address that is no multiple of the
/// element size is the fault Misaligned; memory that only callbacks reach is the fault OutOfBounds. Elements
/// have 2, 4 or 8 bytes.
[[nodiscard]] bool atomic(const Environment&, const Access&, const AccessOperands&, void* data, Fault& fault);

/// Element i lies at the one address + mem.offset + i * size; it counts as lane i.
[[nodiscard]] bool block_load(const Environment&, const Access&, const AccessOperands&, void* data,
                              Fault& fault);
[[nodiscard]] bool block_store(const Environment&, const Access&, const AccessOperands&, const void* data,
                               Fault& fault);

}  // namespace eum::jit
