#pragma once
// Surfaces and samplers that messages name by the position of their state in memory instead of an index into
// a table (bindless). The state is read for each message, because programs may write it. This must not know
// who sends messages.
#include <cstdint>

#include "memory/image/message.hpp"
#include "memory/surface.hpp"

namespace eum::mem::image {

/// Which heap a surface's state lies in.
enum class SurfaceHeap : std::uint8_t {
  Bindless,  ///< from Bindless Surface State Base Address on
  States,    ///< from Surface State Base Address on (LSC: ss)
};

struct StateHeap {
  std::uint64_t surfaces = 0;       ///< Bindless Surface State Base Address
  std::uint32_t surface_bytes = 0;  ///< length of that range; 0: there are no such states
  std::uint64_t dynamic = 0;        ///< Dynamic State Base Address: border colours
  /// Pointers to samplers are relative to `surfaces` too, in messages on such surfaces (BXT volume 6,
  /// "Bindless Sampler State").
  bool samplers = false;
  std::uint64_t states = 0;       ///< Surface State Base Address
  std::uint32_t state_bytes = 0;  ///< length of that range; 0: there are no such states
};

/// The surface that a state describes, with the size that the state needs and no host memory yet.
Result<Surface> surface_of_state(std::span<const std::byte, surface_state_bytes> bytes);

/// Reads the state at byte `offset` of the heap and finds the surface's host memory if that is one block.
ImageFault read_surface(const StateHeap& heap, const AddressSpace* space, std::uint32_t offset,
                        Surface& surface, SurfaceHeap which = SurfaceHeap::Bindless);
ImageFault read_sampler(const StateHeap& heap, const AddressSpace* space, std::uint32_t offset,
                        SamplerState& sampler);

}  // namespace eum::mem::image
