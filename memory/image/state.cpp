// The fields of RENDER_SURFACE_STATE and SAMPLER_STATE, each named once for both directions: `transfer` lists
// them in the manual's order (genxml gen9), and Reader and Writer define what is done with a field. It must
// not know where the bytes come from, nor whether fields are consistent with each other.
#include "memory/image/state.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <optional>
#include <string>

#include "memory/image/format.hpp"

namespace eum::mem::image {
namespace {

/// Bits of a state; none crosses a dword.
struct Field {
  unsigned first, last;
  const char* name;

  constexpr unsigned bits() const { return last - first + 1; }
};

/// The set of values allowed in a field: bit k stands for value k.
using Values = std::uint32_t;

constexpr Values up_to(unsigned last) { return (2u << last) - 1; }

std::string list(Values values) {
  std::string text;
  for (unsigned k = 0; k < 32; ++k)
    if ((values >> k & 1) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", k);
  return text;
}

/// The dwords of the longest state; a shorter state uses the first ones.
struct Words {
  std::array<std::uint32_t, surface_state_bytes / 4> words{};

  static Words of(std::span<const std::byte> bytes) {
    Words result;
    std::memcpy(result.words.data(), bytes.data(), bytes.size());
    return result;
  }

  std::uint32_t get(Field f) const {
    return words[f.first / 32] >> f.first % 32 &
           static_cast<std::uint32_t>((std::uint64_t{1} << f.bits()) - 1);
  }
  void set(Field f, std::uint32_t value) {
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << f.bits()) - 1);
    words[f.first / 32] |= (value & mask) << f.first % 32;
  }
};

/// Reads fields from bytes into a struct. The error is the first wrong field; later fields are still read.
class Reader {
 public:
  Reader(const char* structure, std::span<const std::byte> bytes)
      : structure_(structure), words_(Words::of(bytes)) {}

  template <std::integral T>
  void number(Field f, T& value, std::uint32_t unit = 1, std::uint32_t added = 0) {
    value = static_cast<T>(words_.get(f) * unit + added);
  }
  void two_complement(Field f, std::int16_t& value) {
    const unsigned unused = 32 - f.bits();
    value = static_cast<std::int16_t>(static_cast<std::int32_t>(words_.get(f) << unused) >> unused);
  }
  template <class E>
  void choice(Field f, E& value, Values allowed) {
    only(f, allowed);
    value = static_cast<E>(words_.get(f));
  }
  /// Encoded as 1, 2, 3 for 4, 8, 16.
  void alignment(Field f, std::uint8_t& value) {
    only(f, 0b1110);
    value = static_cast<std::uint8_t>(2u << words_.get(f));
  }
  void only(Field f, Values allowed) {
    const std::uint32_t found = words_.get(f);
    if (found < 32 && (allowed >> found & 1) != 0) return;
    wrong(f, fmt::format("{}{}", (allowed & (allowed - 1)) != 0 ? "one of " : "", list(allowed)));
  }
  void format(Field f, FormatCode& value) {
    number(f, value);
    if (find_format(value) == nullptr) wrong(f, "a format of the sampler or the data port");
  }
  void entries(Field low, Field middle, Field high, std::uint32_t& value) {
    const std::uint32_t most =
        words_.get(low) | words_.get(middle) << low.bits() | words_.get(high) << (low.bits() + middle.bits());
    if (most == ~std::uint32_t{0}) wrong(high, "fewer than 2^32 entries, in Depth, Height and Width");
    value = most + 1;
  }
  void levels(Field f, std::uint8_t& count, std::uint8_t& level) {
    only(f, up_to(14));
    level = static_cast<std::uint8_t>(words_.get(f));
    count = static_cast<std::uint8_t>(level + 1);
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  void wrong(Field f, std::string_view expected) {
    if (error_) return;
    error_ = eum::error("{}: {}: expected {}, found {}", structure_, f.name, expected, words_.get(f));
  }

  const char* structure_;
  Words words_;
  std::optional<Error> error_;
};

/// Writes the same fields of a struct to bytes.
class Writer {
 public:
  template <std::integral T>
  void number(Field f, T value, std::uint32_t unit = 1, std::uint32_t added = 0) {
    words_.set(f, (static_cast<std::uint32_t>(value) - added) / unit);
  }
  void two_complement(Field f, std::int16_t value) { words_.set(f, static_cast<std::uint32_t>(value)); }
  template <class E>
  void choice(Field f, E value, Values) {
    words_.set(f, static_cast<std::uint32_t>(value));
  }
  void alignment(Field f, std::uint8_t value) { words_.set(f, value >= 16 ? 3 : value / 4u); }
  void only(Field f, Values allowed) { words_.set(f, static_cast<std::uint32_t>(__builtin_ctz(allowed))); }
  void format(Field f, FormatCode value) { words_.set(f, value); }
  void entries(Field low, Field middle, Field high, std::uint32_t value) {
    words_.set(low, value - 1);
    words_.set(middle, (value - 1) >> low.bits());
    words_.set(high, (value - 1) >> (low.bits() + middle.bits()));
  }
  void levels(Field f, std::uint8_t count, std::uint8_t level) {
    words_.set(f, std::max<std::uint32_t>(level, std::max<std::uint32_t>(count, 1) - 1));
  }

  Words& words() { return words_; }
  template <std::size_t size>
  std::array<std::byte, size> bytes() const {
    std::array<std::byte, size> result;
    std::memcpy(result.data(), words_.words.data(), size);
    return result;
  }

 private:
  Words words_;
};

constexpr Values channel_selects = 0b11110011;

/// Omitted, because messages do not depend on them: cache control, Sampler L2 Bypass Mode Disable, MOCS,
/// Coherency Type, Multisample Position Palette Index, Multisampled Surface Storage Format, rotation
/// (sample_unorm and render targets), Mip Tail Start LOD (tiled resources), EWA Disable For Cube, the planes
/// of planar formats, clear colours (auxiliary surfaces).
template <class Io>
void transfer(Io& io, SurfaceState& s) {
  io.choice({29, 31, "Surface Type"}, s.type, 0b10111111);
  const bool buffer = s.type == SurfaceType::SURFTYPE_BUFFER || s.type == SurfaceType::SURFTYPE_STRBUF;
  if (buffer) {
    // SKL PRM volume 2d, RENDER_SURFACE_STATE: the number of entries minus one lies in Width[6:0],
    // Height[20:7], Depth[31:21].
    io.only({71, 77, "Width of a buffer, bits 13:7"}, 1);
    io.entries({64, 70, "Width"}, {80, 93, "Height"}, {117, 127, "Depth"}, s.width);
    s.height = s.depth = 1;
  } else {
    io.number({64, 77, "Width"}, s.width, 1, 1);
    io.number({80, 93, "Height"}, s.height, 1, 1);
    io.number({117, 127, "Depth"}, s.depth, 1, 1);
  }
  io.number({135, 145, "Render Target View Extent"}, s.view_extent, 1, 1);
  io.levels({160, 163, "MIP Count / LOD"}, s.mip_count, s.mip_lod);
  if (s.type == SurfaceType::SURFTYPE_NULL) return;

  if (s.type == SurfaceType::SURFTYPE_CUBE) io.number({0, 5, "Cube Face Enable"}, s.cube_faces);
  io.only({6, 7, "Media Boundary Pixel Mode"}, 1);
  io.number({10, 10, "Vertical Line Stride Offset"}, s.vertical_line_stride_offset);
  io.number({11, 11, "Vertical Line Stride"}, s.vertical_line_stride);
  io.choice({12, 13, "Tile Mode"}, s.tiling, up_to(3));
  if (!buffer) {  // buffers do not use these fields
    io.alignment({14, 15, "Surface Horizontal Alignment"}, s.halign);
    io.alignment({16, 17, "Surface Vertical Alignment"}, s.valign);
  }
  io.format({18, 27, "Surface Format"}, s.format);
  io.number({28, 28, "Surface Array"}, s.array);
  io.number({32, 46, "Surface QPitch"}, s.qpitch, 4);
  io.number({51, 55, "Base Mip Level"}, s.base_mip);
  io.number({96, 113, "Surface Pitch"}, s.pitch, 1, 1);
  io.choice({131, 133, "Number of Multisamples"}, s.samples_log2, up_to(4));
  io.number({146, 156, "Minimum Array Element"}, s.min_array_element);
  io.number({164, 167, "Surface Min LOD"}, s.min_lod);
  io.only({178, 179, "Tiled Resource Mode"}, 1);
  io.number({181, 183, "Y Offset"}, s.y_offset, 4);
  io.number({185, 191, "X Offset"}, s.x_offset, 4);
  io.choice({192, 194, "Auxiliary Surface Mode"}, s.auxiliary, 0b101);
  io.number({224, 235, "Resource Min LOD"}, s.resource_min_lod);
  io.choice({249, 251, "Shader Channel Select Red"}, s.select[0], channel_selects);
  io.choice({246, 248, "Shader Channel Select Green"}, s.select[1], channel_selects);
  io.choice({243, 245, "Shader Channel Select Blue"}, s.select[2], channel_selects);
  io.choice({240, 242, "Shader Channel Select Alpha"}, s.select[3], channel_selects);
  io.only({254, 254, "Memory Compression Enable"}, 1);
}

constexpr Field base_address_low = {256, 287, "Surface Base Address"},
                base_address_high = {288, 319, "Surface Base Address"};
/// Bits 63:12 of an address.
constexpr Field counter_address_low = {332, 351, "Auxiliary Surface Base Address"},
                counter_address_high = {352, 383, "Auxiliary Surface Base Address"};
constexpr unsigned counter_address_shift = 12;

/// Rounding fields, indexed by the bit numbers of SamplerState::rounding.
constexpr std::array<Field, 6> rounding_fields = {{{114, 114, "U Address Mag Filter Rounding Enable"},
                                                   {113, 113, "U Address Min Filter Rounding Enable"},
                                                   {112, 112, "V Address Mag Filter Rounding Enable"},
                                                   {111, 111, "V Address Min Filter Rounding Enable"},
                                                   {110, 110, "R Address Mag Filter Rounding Enable"},
                                                   {109, 109, "R Address Min Filter Rounding Enable"}}};

constexpr Values map_filters = 0b1000111, texture_coordinate_modes = up_to(6);

/// Omitted, because they trade precision for time in ways that the manual leaves open: Anisotropic Algorithm,
/// Coarse LOD Quality Mode, Trilinear Filter Quality; also ChromaKey Mode and Index, which a disabled chroma
/// key does not use.
template <class Io>
void transfer(Io& io, SamplerState& s) {
  io.two_complement({1, 13, "Texture LOD Bias"}, s.lod_bias);
  io.choice({14, 16, "Min Mode Filter"}, s.min_filter, map_filters);
  io.choice({17, 19, "Mag Mode Filter"}, s.mag_filter, map_filters);
  io.choice({20, 21, "Mip Mode Filter"}, s.mip_filter, 0b1011);
  io.only({27, 27, "LOD PreClamp Mode, bit 0"}, 1);
  io.number({28, 28, "LOD PreClamp Mode"}, s.lod_preclamp);
  io.only({29, 29, "Texture Border Color Mode"}, 1);
  io.number({31, 31, "Sampler Disable"}, s.disable);
  io.number({32, 32, "Cube Surface Control Mode"}, s.cube_override);
  io.choice({33, 35, "Shadow Function"}, s.shadow, up_to(7));
  io.only({39, 39, "ChromaKey Enable"}, 1);
  io.number({40, 51, "Max LOD"}, s.max_lod);
  io.number({52, 63, "Min LOD"}, s.min_lod);
  io.number({64, 64, "LOD Clamp Magnification Mode"}, s.lod_clamp_magnification);
  io.choice({102, 104, "TCX Address Control Mode"}, s.address[0], texture_coordinate_modes);
  io.choice({99, 101, "TCY Address Control Mode"}, s.address[1], texture_coordinate_modes);
  io.choice({96, 98, "TCZ Address Control Mode"}, s.address[2], texture_coordinate_modes);
  io.number({105, 105, "Reduction Type Enable"}, s.reduction_enable);
  io.number({106, 106, "Non-normalized Coordinate Enable"}, s.non_normalized);
  for (unsigned k = 0; k < rounding_fields.size(); ++k) {
    unsigned enable = s.rounding >> k & 1u;
    io.number(rounding_fields[k], enable);
    s.rounding = static_cast<std::uint8_t>((s.rounding & ~(1u << k)) | enable << k);
  }
  io.number({115, 117, "Maximum Anisotropy"}, s.max_anisotropy, 2, 2);
  io.choice({118, 119, "Reduction Type"}, s.reduction, up_to(3));
}

constexpr Field border_pointer = {70, 87, "Border Color Pointer"};
constexpr unsigned border_pointer_unit = 64;  // bytes

}  // namespace

Result<SurfaceState> decode_surface_state(std::span<const std::byte, surface_state_bytes> bytes) {
  Reader reader("RENDER_SURFACE_STATE", bytes);
  SurfaceState state;
  transfer(reader, state);
  if (reader.error()) return *reader.error();
  return state;
}

std::uint64_t surface_base_address(std::span<const std::byte, surface_state_bytes> bytes) {
  std::uint64_t address;
  std::memcpy(&address, bytes.data() + base_address_low.first / 8, sizeof address);
  return address;
}

std::uint64_t append_counter_address(std::span<const std::byte, surface_state_bytes> bytes) {
  const Words words = Words::of(bytes);
  return std::uint64_t{words.get(counter_address_high)} << 32 | std::uint64_t{words.get(counter_address_low)}
                                                                    << counter_address_shift;
}

std::array<std::byte, surface_state_bytes> encode(const SurfaceState& state, std::uint64_t base_address,
                                                  std::uint64_t counter_address) {
  Writer writer;
  SurfaceState copy = state;
  transfer(writer, copy);
  writer.words().set(base_address_low, static_cast<std::uint32_t>(base_address));
  writer.words().set(base_address_high, static_cast<std::uint32_t>(base_address >> 32));
  writer.words().set(counter_address_low,
                     static_cast<std::uint32_t>(counter_address) >> counter_address_shift);
  writer.words().set(counter_address_high, static_cast<std::uint32_t>(counter_address >> 32));
  return writer.bytes<surface_state_bytes>();
}

Result<SamplerState> decode_sampler_state(std::span<const std::byte, sampler_state_bytes> bytes,
                                          std::span<const std::byte> border) {
  Reader reader("SAMPLER_STATE", bytes);
  SamplerState state;
  transfer(reader, state);
  if (reader.error()) return *reader.error();
  if (!border.empty()) {
    if (border.size() < sizeof state.border)
      return error("SAMPLER_BORDER_COLOR_STATE: expected at least {} bytes, found {}", sizeof state.border,
                   border.size());
    std::memcpy(state.border.data(), border.data(), sizeof state.border);
  }
  return state;
}

std::uint32_t border_color_pointer(std::span<const std::byte, sampler_state_bytes> bytes) {
  return Words::of(bytes).get(border_pointer) * border_pointer_unit;
}

std::array<std::byte, sampler_state_bytes> encode(const SamplerState& state,
                                                  std::uint32_t border_color_pointer) {
  Writer writer;
  SamplerState copy = state;
  transfer(writer, copy);
  writer.words().set(border_pointer, border_color_pointer / border_pointer_unit);
  return writer.bytes<sampler_state_bytes>();
}

}  // namespace eum::mem::image
