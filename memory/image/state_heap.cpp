#include "memory/image/state_heap.hpp"

#include "memory/address_space.hpp"
#include "memory/image/layout.hpp"

namespace eum::mem::image {

namespace {

ImageFault fault_at(ImageFault::Kind kind, std::uint64_t address, std::size_t bytes, const char* reason) {
  return {.kind = kind, .bytes = static_cast<std::uint32_t>(bytes), .address = address, .reason = reason};
}

/// Location of a heap, and the fault reasons for a missing heap and for a state that is not valid.
struct Part {
  std::uint64_t address;
  std::uint32_t bytes;
  const char* missing;
  const char* wrong;
};

Part part(const StateHeap& heap, SurfaceHeap which) {
  if (which == SurfaceHeap::States)
    return {heap.states, heap.state_bytes, "a surface state where there is no heap of surface states",
            "a surface state with values that are reserved or not supported"};
  return {heap.surfaces, heap.surface_bytes, "a bindless surface where there is no heap of their states",
          "a bindless surface state with values that are reserved or not supported"};
}

template <std::size_t size>
ImageFault read_state(const Part& heap, const AddressSpace* space, std::uint32_t offset,
                      std::array<std::byte, size>& bytes) {
  const std::uint64_t address = heap.address + offset;
  if (heap.bytes == 0) return fault_at(ImageFault::Kind::Unsupported, address, size, heap.missing);
  if (size > heap.bytes || offset > heap.bytes - size || space == nullptr || space->read(address, bytes))
    return fault_at(ImageFault::Kind::Unmapped, address, size, "");
  return {};
}

}  // namespace

Result<Surface> surface_of_state(std::span<const std::byte, surface_state_bytes> bytes) {
  const Result<SurfaceState> state = decode_surface_state(bytes);
  if (!state) return state.error();
  Surface surface;
  surface.gpu_address = surface_base_address(bytes);
  surface.counter = append_counter_address(bytes);
  surface.size = mem::image::surface_bytes(*state);
  surface.image = *state;
  return surface;
}

ImageFault read_surface(const StateHeap& heap, const AddressSpace* space, std::uint32_t offset,
                        Surface& surface, SurfaceHeap which) {
  std::array<std::byte, surface_state_bytes> bytes;
  const Part from = part(heap, which);
  if (const ImageFault fault = read_state(from, space, offset, bytes)) return fault;
  const Result<Surface> read = surface_of_state(bytes);
  if (!read) return fault_at(ImageFault::Kind::Unsupported, from.address + offset, bytes.size(), from.wrong);
  surface = *read;
  resolve(surface, *space);
  return {};
}

ImageFault read_sampler(const StateHeap& heap, const AddressSpace* space, std::uint32_t offset,
                        SamplerState& sampler) {
  std::array<std::byte, sampler_state_bytes> bytes;
  if (const ImageFault fault = read_state(part(heap, SurfaceHeap::Bindless), space, offset, bytes))
    return fault;
  std::array<std::byte, sizeof SamplerState::border> border;
  const std::uint64_t colour = heap.dynamic + border_color_pointer(bytes);
  const bool has_border = !space->read(colour, border);
  const Result<SamplerState> read = decode_sampler_state(
      bytes, has_border ? std::span<const std::byte>(border) : std::span<const std::byte>());
  if (!read)
    return fault_at(ImageFault::Kind::Unsupported, heap.surfaces + offset, bytes.size(),
                    "a bindless sampler state with values that are reserved or not supported");
  sampler = *read;
  return {};
}

}  // namespace eum::mem::image
