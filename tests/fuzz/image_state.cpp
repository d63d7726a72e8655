// Any 64 and 16 bytes as RENDER_SURFACE_STATE and SAMPLER_STATE: an error that names a field, or a struct
// whose encoding decodes to the same.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "image_state: %s\n", what);
  std::abort();
}

bool names_a_field(const eum::Error& error, std::string_view structure) {
  return error.message.starts_with(structure) && error.message.find("expected") != std::string::npos &&
         error.message.find("found") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  using namespace eum::mem::image;
  std::array<std::byte, surface_state_bytes> surface_bytes{};
  std::array<std::byte, sampler_state_bytes> sampler_bytes{};
  std::memcpy(surface_bytes.data(), data, std::min(size, surface_bytes.size()));
  if (size > surface_bytes.size())
    std::memcpy(sampler_bytes.data(), data + surface_bytes.size(),
                std::min(size - surface_bytes.size(), sampler_bytes.size()));

  if (const Result<SurfaceState> surface = decode_surface_state(surface_bytes)) {
    const std::uint64_t address = surface_base_address(surface_bytes);
    const auto bytes = encode(*surface, address);
    const Result<SurfaceState> back = decode_surface_state(bytes);
    require(static_cast<bool>(back), "a surface state whose bytes do not decode");
    require(*back == *surface, "a surface state that its bytes change");
    require(surface_base_address(bytes) == address, "another base address");
    require(find_format(surface->format) != nullptr, "an unknown format");
    require(surface->width != 0 && surface->height != 0 && surface->depth != 0, "a surface without texels");
  } else {
    require(names_a_field(surface.error(), "RENDER_SURFACE_STATE: "), "an error without a field");
  }

  if (const Result<SamplerState> sampler = decode_sampler_state(sampler_bytes, surface_bytes)) {
    const std::uint32_t pointer = border_color_pointer(sampler_bytes);
    const auto bytes = encode(*sampler, pointer);
    const Result<SamplerState> back = decode_sampler_state(bytes, surface_bytes);
    require(static_cast<bool>(back), "a sampler state whose bytes do not decode");
    require(*back == *sampler, "a sampler state that its bytes change");
    require(border_color_pointer(bytes) == pointer, "another border colour");
  } else {
    require(names_a_field(sampler.error(), "SAMPLER_STATE: "), "an error without a field");
  }
  return 0;
}
