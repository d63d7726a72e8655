// Hostile states: whatever the fields hold, messages end, touch nothing outside the surface, and report what
// they do not support. Kernels are found for exactly the states that check() accepts.
#include <array>
#include <string>

#include "memory/image/kernels/kernel_cache.hpp"
#include "tests/memory/image/image.hpp"

using namespace test_image;

namespace {

struct Random {
  std::mt19937 engine{99};
  std::uint32_t word() { return static_cast<std::uint32_t>(engine()); }
  std::uint32_t below(std::uint32_t n) { return word() % n; }
  /// A small value, or any value of the field's width.
  std::uint32_t field(unsigned bits) {
    const std::uint32_t value = word() & static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    return below(2) == 0 ? value : value % 40;
  }
};

/// Any value that the fields of RENDER_SURFACE_STATE can hold, and sometimes one that exceeds a field.
SurfaceState any_surface(Random& r) {
  SurfaceState s;
  s.type = static_cast<SurfaceType>(std::array{0, 1, 2, 3, 4, 5, 7}[r.below(7)]);
  s.tiling = static_cast<TileMode>(r.below(4));
  const auto all = formats();
  s.format = r.below(10) == 0 ? static_cast<FormatCode>(r.below(512))
                              : all[r.below(static_cast<std::uint32_t>(all.size()))].code;
  s.array = r.below(2) != 0;
  s.halign = static_cast<std::uint8_t>(std::array{0, 4, 8, 16}[r.below(4)]);
  s.valign = static_cast<std::uint8_t>(std::array{0, 4, 8, 16}[r.below(4)]);
  s.samples_log2 = static_cast<std::uint8_t>(r.below(12) == 0 ? r.below(5) : 0);
  s.mip_count = static_cast<std::uint8_t>(r.below(3) == 0 ? r.below(17) : 1);
  s.mip_lod = static_cast<std::uint8_t>(r.below(3) == 0 ? r.below(16) : 0);
  s.min_lod = static_cast<std::uint8_t>(r.below(3) == 0 ? r.below(16) : 0);
  s.base_mip = static_cast<std::uint8_t>(r.field(5));
  s.resource_min_lod = static_cast<std::uint16_t>(r.field(12));
  for (ChannelSelect& select : s.select) select = static_cast<ChannelSelect>(r.below(8));
  const unsigned bits = r.below(8) == 0 ? 32 : 14;
  s.width = r.field(bits);
  s.height = r.field(bits);
  s.depth = r.field(bits == 32 ? 32 : 11);
  s.pitch = r.field(18);
  s.qpitch = r.field(17);
  s.min_array_element = r.field(11);
  s.view_extent = r.field(11);
  s.x_offset = static_cast<std::uint16_t>(r.field(9));
  s.vertical_line_stride = r.below(10) == 0;
  s.vertical_line_stride_offset = r.below(2) == 0;
  s.auxiliary = r.below(4) == 0 ? Auxiliary::APPEND : Auxiliary::NONE;
  s.y_offset = static_cast<std::uint16_t>(r.field(7));
  return s;
}

SamplerState any_sampler(Random& r) {
  SamplerState s;
  s.min_filter = static_cast<MapFilter>(std::array{0, 1, 2, 6}[r.below(4)]);
  s.mag_filter = static_cast<MapFilter>(r.below(3));
  s.mip_filter = static_cast<MipFilter>(std::array{0, 1, 3}[r.below(3)]);
  for (AddressControl& a : s.address) a = static_cast<AddressControl>(r.below(7));
  s.shadow = static_cast<Prefilter>(r.below(8));
  s.reduction = static_cast<Reduction>(r.below(4));
  s.reduction_enable = r.below(3) == 0;
  s.non_normalized = r.below(2) != 0;
  s.lod_preclamp = r.below(2) != 0;
  s.lod_clamp_magnification = r.below(2) != 0;
  s.disable = r.below(10) == 0;
  s.cube_override = r.below(2) != 0;
  s.max_anisotropy = static_cast<std::uint8_t>(2 + 2 * r.below(8));
  s.lod_bias = static_cast<std::int16_t>(static_cast<int>(r.field(13)) - 4096);
  s.min_lod = static_cast<std::uint16_t>(r.field(12));
  s.max_lod = static_cast<std::uint16_t>(r.field(12));
  for (std::uint32_t& b : s.border) b = r.word();
  return s;
}

constexpr std::size_t before = 64, inside = 3000, behind = 64;

}  // namespace

TEST_CASE("image hostile: no state makes a message leave its surface") {
  Random r;
  KernelCache cache;
  std::vector<std::byte> memory(before + inside + behind);
  for (std::byte& b : memory) b = static_cast<std::byte>(r.word());
  const std::vector<std::byte> untouched = memory;
  unsigned good = 0, faults = 0, refused = 0;
  const auto count = [&](const ImageFault& fault) {
    good += fault.kind == ImageFault::Kind::None;
    faults += fault.kind == ImageFault::Kind::Unmapped || fault.kind == ImageFault::Kind::Misaligned;
    refused += fault.kind == ImageFault::Kind::Unsupported;
    if (fault.kind == ImageFault::Kind::Unsupported) CHECK(fault.reason[0] != 0);
  };
  for (unsigned n = 0; n < 20000 / EUMULATE_STEP; ++n) {
    Surface surface = buffer_surface(memory.data() + before, inside, 0x40000);
    surface.image = any_surface(r);
    surface.counter = r.word();
    if (r.below(4) == 0) surface.size = surface.direct = r.below(8);
    const SamplerState sampler = any_sampler(r);
    std::array<std::uint32_t, 16 * 8> data;
    for (std::uint32_t& value : data)
      value = r.below(3) == 0   ? r.word()
              : r.below(2) == 0 ? r.below(40)
                                : bits(static_cast<float>(r.below(100)) / 50);
    const std::uint32_t mask = r.word();

    SampleMessage message;
    message.op = static_cast<SampleOp>(r.below(sample_op_table.size()));
    message.lanes = r.below(4) == 0 ? 2 : 8;
    message.parameters = static_cast<std::uint8_t>(r.below(12));
    message.results = static_cast<std::uint8_t>(r.below(6));
    message.half = r.below(2) != 0;
    const SampleControl control{r.word()};
    count(sample(message, {&surface, &sampler, control, mask, data.data(), nullptr}));
    const SampleKernel* kernel = cache.find(message, surface.image, sampler, control);
    if (kernel != nullptr) CHECK(bool(check(surface.image)));
    if (kernel != nullptr && kernel->surface_bytes() <= surface.size)
      kernel->run({&surface, &sampler, control, mask, data.data(), nullptr});
    CHECK(memory == untouched);

    TypedMessage typed;
    typed.kind = static_cast<TypedMessage::Kind>(r.below(4));
    typed.lanes = r.below(4) == 0 ? 2 : 8;
    typed.coordinates = static_cast<std::uint8_t>(r.below(5));
    typed.components = static_cast<std::uint8_t>(r.below(16));
    typed.atomic = static_cast<AtomicOp>(r.below(static_cast<std::uint32_t>(atomic_table.size())));
    typed.returns = r.below(2) != 0;
    count(typed_access(typed, {&surface, mask, data.data(), nullptr}));
    const TypedKernel* typed_kernel = cache.find(typed, surface.image);
    if (typed_kernel != nullptr && typed_kernel->surface_bytes() <= surface.size)
      typed_kernel->run({&surface, mask, data.data(), nullptr});

    MediaMessage media;
    media.write = r.below(2) != 0;
    media.width = static_cast<std::uint8_t>(r.below(70));
    media.height = static_cast<std::uint8_t>(r.below(70));
    media.vertical_stride_override = static_cast<std::uint8_t>(r.below(8));
    std::array<std::byte, 64 * 64> block{};
    const auto place = [&] { return static_cast<std::int32_t>(r.below(2) == 0 ? r.word() : r.below(60)); };
    count(media_block(media, {&surface, place(), place(), block.data(), nullptr}));

    REQUIRE(std::equal(memory.begin(), memory.begin() + before, untouched.begin()));
    REQUIRE(std::equal(memory.end() - behind, memory.end(), untouched.end() - behind));
    memory = untouched;
    if (surface.image.type != SurfaceType::SURFTYPE_STRBUF) (void)surface_bytes(surface.image);
  }
  CHECK(good > 1000 / EUMULATE_STEP);
  CHECK(faults > 1000 / EUMULATE_STEP);
  CHECK(refused > 1000 / EUMULATE_STEP);
}
