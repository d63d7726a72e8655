// Kernels against the scalar definition, bit for bit, over random states, coordinates, masks and payload
// shapes. A failure prints the seed of its case and the reduced case.
#include <sys/mman.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "memory/image/float_mode.hpp"
#include "memory/image/kernels/kernel_cache.hpp"
#include "tests/memory/image/image.hpp"

using namespace test_image;

namespace {

/// Runs with another MXCSR, which must not affect results.
template <class Run>
void with_mode(unsigned mode, const Run& run) {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(mode);
  run();
  __builtin_ia32_ldmxcsr(before);
}
constexpr unsigned modes[] = {0x1f80, 0x9fc0, 0xffc0, 0x3f80, 0x9f80, 0x1fc0};

/// Memory that ends, or begins, at inaccessible pages.
class Fenced {
 public:
  explicit Fenced(std::size_t most) : bytes_((most + 4095) / 4096 * 4096) {
    pages_ =
        static_cast<std::byte*>(mmap(nullptr, bytes_ + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(mprotect(pages_ + 4096, bytes_, PROT_READ | PROT_WRITE) == 0);
  }
  ~Fenced() { munmap(pages_, bytes_ + 8192); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  std::byte* place(std::size_t size, bool at_end) { return pages_ + 4096 + (at_end ? bytes_ - size : 0); }

 private:
  std::size_t bytes_;
  std::byte* pages_;
};

constexpr std::size_t most_bytes = 1 << 20;

struct Random {
  std::mt19937 engine;
  explicit Random(std::uint32_t seed) : engine(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine()) % n; }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine()); }
  template <class T, std::size_t n>
  T of(const T (&values)[n]) {
    return values[below(n)];
  }
  float real(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
};

SurfaceState random_surface(Random& r) {
  SurfaceState s;
  for (;;) {
    s = {};
    s.type = r.of({SurfaceType::SURFTYPE_1D, SurfaceType::SURFTYPE_2D, SurfaceType::SURFTYPE_2D,
                   SurfaceType::SURFTYPE_2D, SurfaceType::SURFTYPE_3D, SurfaceType::SURFTYPE_CUBE,
                   SurfaceType::SURFTYPE_BUFFER});
    const auto all = formats();
    s.format = all[r.below(static_cast<std::uint32_t>(all.size()))].code;
    s.tiling = s.type == SurfaceType::SURFTYPE_BUFFER
                   ? TileMode::LINEAR
                   : r.of({TileMode::LINEAR, TileMode::LINEAR, TileMode::XMAJOR, TileMode::YMAJOR});
    const std::uint32_t most = r.chance(80) ? 40 : 150;
    s.width = 1 + r.below(most);
    s.height =
        s.type == SurfaceType::SURFTYPE_2D || s.type == SurfaceType::SURFTYPE_3D ? 1 + r.below(most) : 1;
    s.depth = s.type == SurfaceType::SURFTYPE_3D ? 1 + r.below(6) : 1;
    if (s.type != SurfaceType::SURFTYPE_3D && s.type != SurfaceType::SURFTYPE_BUFFER && r.chance(40)) {
      s.array = true;
      s.depth = 1 + r.below(5);
      s.min_array_element = r.chance(30) ? r.below(3) : 0;
    }
    if (s.type == SurfaceType::SURFTYPE_CUBE) {
      s.width = s.height = 1 + r.below(12);
      if (r.chance(50)) s.min_array_element = 6 * r.below(2);
    }
    s.view_extent = r.chance(70) ? s.depth : 1 + r.below(s.depth);
    s.halign = r.of<std::uint8_t>({4, 8, 16});
    s.valign = r.of<std::uint8_t>({4, 8, 16});
    if (r.chance(30) && s.type != SurfaceType::SURFTYPE_BUFFER) {
      s.mip_count = static_cast<std::uint8_t>(1 + r.below(4));
      s.min_lod = static_cast<std::uint8_t>(r.below(2));
      s.mip_lod = static_cast<std::uint8_t>(r.below(s.mip_count));
      s.base_mip = static_cast<std::uint8_t>(r.below(3));
      s.resource_min_lod = static_cast<std::uint16_t>(r.chance(20) ? r.below(600) : 0);
    }
    if (r.chance(15) && s.type == SurfaceType::SURFTYPE_2D) {
      s.x_offset = static_cast<std::uint16_t>(4 * r.below(4));
      s.y_offset = static_cast<std::uint16_t>(4 * r.below(4));
    }
    if (r.chance(30))
      for (ChannelSelect& select : s.select)
        select = r.of({ChannelSelect::ZERO, ChannelSelect::ONE, ChannelSelect::RED, ChannelSelect::GREEN,
                       ChannelSelect::BLUE, ChannelSelect::ALPHA});
    choose_layout(s);
    if (s.type != SurfaceType::SURFTYPE_BUFFER && r.chance(20)) {
      s.pitch += s.tiling == TileMode::LINEAR ? find_format(s.format)->bytes * r.below(9)
                                              : tile_size(s.tiling).bytes;
      s.qpitch += 4 * r.below(4);
    }
    if (check(s) && surface_bytes(s) <= most_bytes) return s;
  }
}

std::uint32_t random_float(Random& r) {
  switch (r.below(8)) {
    case 0:
      return r.of({0x7fc00000u, 0xffc00001u, 0x7f800001u, 0x7f800000u, 0xff800000u, 0u, 0x80000000u, 1u,
                   0x80000001u});
    case 1:
      return r.word();
    default:
      return bits(r.real(-1, 1));
  }
}

SamplerState random_sampler(Random& r) {
  SamplerState s;
  const auto filter = [&] {
    return r.of({MapFilter::NEAREST, MapFilter::LINEAR, MapFilter::LINEAR, MapFilter::ANISOTROPIC});
  };
  s.mag_filter = filter();
  s.min_filter = r.chance(70) ? s.mag_filter : filter();
  s.mip_filter = r.of({MipFilter::NONE, MipFilter::NEAREST, MipFilter::LINEAR});
  for (AddressControl& a : s.address)
    a = r.of({AddressControl::WRAP, AddressControl::MIRROR, AddressControl::CLAMP,
              AddressControl::CLAMP_BORDER, AddressControl::MIRROR_ONCE, AddressControl::HALF_BORDER});
  if (r.chance(20)) s.address.fill(AddressControl::CUBE);
  s.cube_override = r.chance(20);
  s.non_normalized = r.chance(25);
  if (s.non_normalized)
    for (AddressControl& a : s.address)
      if (r.chance(80)) a = r.of({AddressControl::CLAMP, AddressControl::CLAMP_BORDER});
  s.lod_preclamp = r.chance(20);
  s.lod_clamp_magnification = r.chance(50);
  s.lod_bias = static_cast<std::int16_t>(r.chance(40) ? static_cast<int>(r.below(1200)) - 300 : 0);
  s.min_lod = static_cast<std::uint16_t>(r.chance(20) ? r.below(600) : 0);
  s.max_lod = static_cast<std::uint16_t>(r.chance(20) ? r.below(900) : 14 << 8);
  s.max_anisotropy = 8;
  s.shadow = static_cast<Prefilter>(r.below(8));
  s.reduction_enable = r.chance(10);
  s.reduction = static_cast<Reduction>(r.below(4));
  for (std::uint32_t& b : s.border) b = r.chance(50) ? r.of({0u, 0x3f800000u}) : random_float(r);
  return s;
}

/// A random coordinate for a surface of `size` texels.
std::uint32_t random_coordinate(Random& r, bool normalized, std::uint32_t size) {
  const float n = static_cast<float>(size);
  float u = 0;  // in texels
  switch (r.below(10)) {
    case 0:
      return random_float(r);
    case 1:
      return bits(std::ldexp(r.real(-2, 2), static_cast<int>(r.below(140)) - 20));
    case 2:
    case 3:  // edges and centres of texels, and points next to them
      u = static_cast<float>(static_cast<int>(r.below(2 * size + 8)) - 4) * 0.5f;
      if (r.chance(50)) u = std::nextafter(u, r.chance(50) ? 1e9f : -1e9f);
      break;
    case 4:
      u = r.real(-3 * n, 4 * n);
      break;
    default:
      u = r.real(-0.1f * n, 1.1f * n);
  }
  return bits(normalized ? u / n : u);
}

struct Case {
  std::uint32_t seed = 0;
  SurfaceState surface;
  SamplerState sampler;
  SampleMessage message;
  SampleControl control;
  std::uint32_t mask = 0;
  bool at_end = true;
};

constexpr SampleOp ops[] = {
    SampleOp::sample_lz,  SampleOp::sample_lz,  SampleOp::sample_lz,      SampleOp::sample_l,
    SampleOp::sample,     SampleOp::sample_b,   SampleOp::sample_d,       SampleOp::ld,
    SampleOp::ld_lz,      SampleOp::ld_lz,      SampleOp::sample_killpix, SampleOp::sample_c_lz,
    SampleOp::sample_c,   SampleOp::sample_l_c, SampleOp::gather4_c,      SampleOp::sample_min,
    SampleOp::sample_max, SampleOp::gather4,    SampleOp::gather4_po,     SampleOp::gather4_po_c};

Case random_case(std::uint32_t seed) {
  Random r(seed);
  Case c;
  c.seed = seed;
  c.surface = random_surface(r);
  c.sampler = random_sampler(r);
  c.message.op = c.surface.type == SurfaceType::SURFTYPE_BUFFER ? r.of({SampleOp::ld, SampleOp::ld_lz})
                                                                : ops[r.below(std::size(ops))];
  c.message.lanes = r.of<std::uint8_t>({8, 16, 16, 32});
  const std::uint32_t count = info(c.message.op).parameters.count;
  c.message.parameters = static_cast<std::uint8_t>(r.chance(70) ? count : 1 + r.below(count));
  c.message.results = static_cast<std::uint8_t>(r.chance(70) ? 4 : r.below(6));
  c.message.half = r.chance(20);
  if (r.chance(25)) c.control.bits |= r.below(15) << 12;
  if (r.chance(25)) c.control.bits |= r.below(1 << 12);
  if (r.chance(10)) c.control.bits |= 1 << 23;
  c.mask = r.chance(50) ? ~0u : r.word();
  c.at_end = r.chance(70);
  return c;
}

std::string describe(const Case& c) {
  const SurfaceState& s = c.surface;
  const SamplerState& p = c.sampler;
  return fmt::format(
      "seed {}: {} lanes {} parameters {} results {} half {} control {:#x} mask {:#x}\n"
      "  surface type {} {} {}x{}x{} tiling {} array {} from {} levels {} from {} pitch {} qpitch {} offsets "
      "{} {}\n"
      "  select {} {} {} {} base_mip {} resource_min_lod {}\n"
      "  sampler min {} mag {} mip {} address {} {} {} non_normalized {} bias {} lod {} to {} border {:#x} "
      "{:#x} {:#x} {:#x}",
      c.seed, info(c.message.op).name, c.message.lanes, c.message.parameters, c.message.results,
      c.message.half, c.control.bits, c.mask, int(s.type), find_format(s.format)->name, s.width, s.height,
      s.depth, int(s.tiling), s.array, s.min_array_element, s.mip_count, s.min_lod, s.pitch, s.qpitch,
      s.x_offset, s.y_offset, int(s.select[0]), int(s.select[1]), int(s.select[2]), int(s.select[3]),
      s.base_mip, s.resource_min_lod, int(p.min_filter), int(p.mag_filter), int(p.mip_filter),
      int(p.address[0]), int(p.address[1]), int(p.address[2]), p.non_normalized, p.lod_bias, p.min_lod,
      p.max_lod, p.border[0], p.border[1], p.border[2], p.border[3]);
}

class Comparison {
 public:
  /// The difference, or nothing. Sends `calls` messages, each with its own payload.
  std::string sample_differs(const Case& c, unsigned calls) {
    const SampleKernel* kernel = cache_.find(c.message, c.surface, c.sampler, c.control);
    if (kernel == nullptr) return {};
    Random r(c.seed ^ 0x5eed);
    Surface surface = place(c.surface, c.at_end, r);
    if (kernel->surface_bytes() != surface.size) return "surface_bytes() differs";
    const unsigned lanes = c.message.lanes;
    const auto size = level_size(c.surface, c.surface.min_lod);
    const ParameterList& list = info(c.message.op).parameters;
    for (unsigned call = 0; call < calls; ++call) {
      std::vector<std::uint32_t> data(std::max<std::size_t>(list.count, 6) * lanes, 0xdeadbeef);
      const bool smooth = r.chance(50);  // neighbouring lanes are close to each other
      for (unsigned k = 0; k < c.message.parameters && k < list.count; ++k)
        for (unsigned lane = 0; lane < lanes; ++lane) {
          std::uint32_t& value = data[k * lanes + lane];
          const auto axis = static_cast<unsigned>(list.list[k]);
          const bool normalized = !c.sampler.non_normalized;
          if (info(c.message.op).has(sample_flag::Texel)) {
            value = axis < 3 ? r.below(size[axis] + 2) - 1 : r.chance(85) ? 0 : r.below(3);
            if (r.chance(3)) value = r.word();
          } else if (axis < 3 && smooth && lane % 4 != 0) {
            value = bits(number(data[k * lanes + lane / 4 * 4]) + r.real(0, normalized ? 0.2f : 5.0f));
          } else if (axis < 3 && c.surface.type == SurfaceType::SURFTYPE_CUBE && r.chance(70)) {
            value = bits(r.chance(40) ? r.of({1.0f, -1.0f, 0.0f, -0.0f, 0.75f}) : r.real(-1, 1));
          } else if (axis < 3) {
            value = random_coordinate(r, normalized, size[axis]);
          } else if (list.list[k] == Parameter::offu || list.list[k] == Parameter::offv) {
            value = r.chance(80) ? r.below(64) : r.word();
          } else if (list.list[k] >= Parameter::dudx && list.list[k] <= Parameter::drdy && r.chance(80)) {
            value = bits(r.real(-0.2f, 0.2f) * (normalized ? 1 : static_cast<float>(size[0])));
          } else {
            value = r.chance(70) ? bits(r.real(-2, 5)) : random_float(r);
          }
        }
      std::vector<std::uint32_t> expected = data;
      const SampleCall definition{&surface, &c.sampler, c.control, c.mask, expected.data(), nullptr};
      const ImageFault fault = sample(c.message, definition);
      if (fault) return std::string("the definition faults: ") + fault.reason;
      std::vector<std::uint32_t> got = data;
      with_mode(r.of(modes), [&] {
        kernel->run({&surface, &c.sampler, c.control, c.mask, got.data(), nullptr});
      });
      lanes_ += lanes;
      for (unsigned k = 0; k < c.message.results; ++k)
        for (unsigned lane = 0; lane < lanes; ++lane)
          if (got[k * lanes + lane] != expected[k * lanes + lane]) {
            std::string text = fmt::format("result {} of lane {}: {:#x} and not {:#x}; parameters", k, lane,
                                           got[k * lanes + lane], expected[k * lanes + lane]);
            for (unsigned p = 0; p < c.message.parameters && p < list.count; ++p)
              text += fmt::format(" {:#x}", data[p * lanes + lane]);
            return text;
          }
    }
    return {};
  }

  std::string typed_differs(std::uint32_t seed, unsigned calls) {
    Random r(seed);
    const SurfaceState state = random_surface(r);
    TypedMessage m;
    const bool readable = find_format(state.format)->readable;
    m.kind = readable && r.chance(50) ? TypedMessage::Kind::Read : TypedMessage::Kind::Write;
    m.lanes = r.of<std::uint8_t>({8, 16});
    m.coordinates = static_cast<std::uint8_t>(1 + r.below(4));
    m.components = static_cast<std::uint8_t>(r.chance(70) ? 15 : r.below(16));
    const TypedKernel* kernel = cache_.find(m, state);
    if (kernel == nullptr) return {};
    Surface surface = place(state, r.chance(70), r);
    const auto size = level_size(state, state.mip_lod);
    const unsigned lanes = m.lanes;
    const std::vector<std::byte> before(surface.base, surface.base + surface.size);
    for (unsigned call = 0; call < calls; ++call) {
      std::vector<std::uint32_t> data(8 * lanes);
      const bool row = r.chance(30);  // consecutive texels
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned lane = 0; lane < lanes; ++lane) {
          std::uint32_t& value = data[k * lanes + lane];
          if (k == 3 && m.coordinates == 4)
            value = r.chance(95) ? 0 : r.below(3);
          else if (k >= m.coordinates)
            value = find_format(state.format)->integer ? r.word() >> r.below(32) : random_typed_value(r);
          else if (row && lane != 0)
            value = data[k * lanes] + (k == 0 ? lane : 0);
          else
            value = r.chance(95) ? r.below(size[k] + 1) : r.word();
        }
      const std::uint32_t mask = r.chance(50) ? ~0u : r.word();
      std::vector<std::uint32_t> expected = data, got = data;
      const ImageFault fault = typed_access(m, {&surface, mask, expected.data(), nullptr});
      if (fault) return fmt::format("seed {}: the definition faults: {}", seed, fault.reason);
      const std::vector<std::byte> after(surface.base, surface.base + surface.size);
      if (m.kind == TypedMessage::Kind::Write) std::copy(before.begin(), before.end(), surface.base);
      with_mode(r.of(modes), [&] { kernel->run({&surface, mask, got.data(), nullptr}); });
      lanes_ += lanes;
      const bool same = m.kind == TypedMessage::Kind::Write
                            ? std::equal(after.begin(), after.end(), surface.base)
                            : got == expected;
      if (!same)
        return fmt::format(
            "seed {}: typed kind {} lanes {} coordinates {} components {:#x} surface type {} {} {}x{}x{} "
            "tiling {} array {} from {} extent {} lod {}",
            seed, int(m.kind), m.lanes, m.coordinates, m.components, int(state.type),
            find_format(state.format)->name, state.width, state.height, state.depth, int(state.tiling),
            state.array, state.min_array_element, state.view_extent, state.mip_lod);
      if (m.kind == TypedMessage::Kind::Write) std::copy(before.begin(), before.end(), surface.base);
    }
    return {};
  }

  std::size_t lanes() const { return lanes_; }
  KernelCache& cache() { return cache_; }

 private:
  static std::uint32_t random_typed_value(Random& r) {
    if (r.chance(30)) return bits(static_cast<float>(r.below(1024)) / 510.0f - 0.5f);
    return random_float(r);
  }
  Surface place(const SurfaceState& state, bool at_end, Random& r) {
    const std::size_t size = surface_bytes(state);
    std::byte* base = memory_.place(size, at_end);
    for (std::size_t i = 0; i < size; ++i) base[i] = static_cast<std::byte>(r.word() >> 8);
    Surface surface = buffer_surface(base, size, 0);
    surface.image = state;
    return surface;
  }

  KernelCache cache_;
  Fenced memory_{most_bytes};
  std::size_t lanes_ = 0;
};

/// Sets parts of a case to simple values as long as it still fails.
Case shrink(Comparison& comparison, Case c, unsigned calls) {
  const std::vector<std::function<void(Case&)>> steps = {
      [](Case& x) { x.message.lanes = 8; },
      [](Case& x) { x.mask = ~0u; },
      [](Case& x) { x.message.half = false; },
      [](Case& x) { x.control = {}; },
      [](Case& x) { x.message.results = 4; },
      [](Case& x) { x.message.results = 1; },
      [](Case& x) { x.message.parameters = info(x.message.op).parameters.count; },
      [](Case& x) { x.surface.select = SurfaceState{}.select; },
      [](Case& x) { x.sampler.border = {}; },
      [](Case& x) { x.sampler.lod_bias = 0; },
      [](Case& x) { x.sampler.mip_filter = MipFilter::NONE; },
      [](Case& x) { x.sampler.min_filter = x.sampler.mag_filter = MapFilter::NEAREST; },
      [](Case& x) { x.sampler.address[0] = AddressControl::CLAMP; },
      [](Case& x) { x.sampler.address[1] = AddressControl::CLAMP; },
      [](Case& x) { x.sampler.address[2] = AddressControl::CLAMP; },
      [](Case& x) { x.sampler.non_normalized = false; },
      [](Case& x) { x.surface.array = false, x.surface.min_array_element = 0; },
      [](Case& x) { x.surface.mip_count = 1, x.surface.min_lod = 0, x.surface.mip_lod = 0; },
      [](Case& x) { x.surface.x_offset = x.surface.y_offset = 0; },
      [](Case& x) { x.surface.tiling = TileMode::LINEAR; },
      [](Case& x) { x.surface.height = 1; },
      [](Case& x) { x.surface.width = 4; },
      [](Case& x) { x.surface.format = find_format("R8G8B8A8_UNORM")->code; },
      [](Case& x) { x.surface.format = find_format("R32_FLOAT")->code; },
      [](Case& x) { x.surface.format = find_format("R32_UINT")->code; },
  };
  for (const auto& step : steps) {
    Case next = c;
    step(next);
    if (next.surface.array == c.surface.array && next.surface != c.surface) choose_layout(next.surface);
    if (!check(next.surface) || surface_bytes(next.surface) > most_bytes) continue;
    if (!comparison.sample_differs(next, calls).empty()) c = next;
  }
  return c;
}

}  // namespace

TEST_CASE("image kernels: sampler messages equal the definition") {
  Comparison comparison;
  constexpr std::uint32_t first = 1000;
  constexpr unsigned cases = 6000 / EUMULATE_STEP, calls = 24;
  for (std::uint32_t seed = first; seed < first + cases; ++seed) {
    const Case c = random_case(seed);
    if (comparison.sample_differs(c, calls).empty()) continue;
    const Case small = shrink(comparison, c, calls);
    FAIL(describe(small) << "\n  " << comparison.sample_differs(small, calls));
  }
  CHECK(comparison.lanes() > 1000000 / EUMULATE_STEP);
  CHECK(comparison.cache().size() > cases / 4);
}

TEST_CASE("image kernels: typed messages equal the definition") {
  Comparison comparison;
  constexpr std::uint32_t first = 5000;
  constexpr unsigned cases = 4500 / EUMULATE_STEP;
  for (std::uint32_t seed = first; seed < first + cases; ++seed) {
    const std::string differs = comparison.typed_differs(seed, 16);
    if (!differs.empty()) FAIL(differs);
  }
  CHECK(comparison.lanes() > 250000 / EUMULATE_STEP);
  CHECK(comparison.cache().size() > cases / 4);
}

TEST_CASE("image kernels: what the generator does not do has none") {
  KernelCache cache;
  Image image(SurfaceType::SURFTYPE_2D, "R8G8B8A8_UNORM", 16, 16);
  const SamplerState sampler;
  const SampleMessage message{SampleOp::sample_lz, 16, 2, 4, false};
  CHECK(cache.find(message, image.state, sampler, {}) != nullptr);
  SurfaceState structured = image.state;
  structured.type = SurfaceType::SURFTYPE_STRBUF;
  CHECK(cache.find(message, structured, sampler, {}) == nullptr);
  SurfaceState narrow = image.state;
  narrow.pitch = 32;
  CHECK(cache.find(message, narrow, sampler, {}) == nullptr);
  CHECK(cache.find({SampleOp::gather4_po, 16, 4, 4, false}, image.state, sampler, {}) != nullptr);
  CHECK(cache.find({SampleOp::resinfo, 16, 1, 4, false}, image.state, sampler, {}) == nullptr);
  TypedMessage atomic;
  atomic.kind = TypedMessage::Kind::Atomic;
  CHECK(cache.find(atomic, image.state) == nullptr);
  CHECK(cache.size() == 2);
}

TEST_CASE("image kernels: threads find one kernel, in pages that nobody can write") {
  KernelCache cache;
  Image image(SurfaceType::SURFTYPE_2D, "R8G8B8A8_UNORM", 64, 64);
  std::array<std::vector<const SampleKernel*>, 4> found;
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (auto& mine : found)
    threads.emplace_back([&] {
      SurfaceState state = image.state;
      for (std::uint32_t width = 1; width <= 40; ++width) {
        state.width = width;
        mine.push_back(cache.find({SampleOp::sample_lz, 16, 2, 4, false}, state, {}, {}));
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(cache.size() == 40);
  for (const auto& mine : found) {
    CHECK(mine == found[0]);
    CHECK(std::find(mine.begin(), mine.end(), nullptr) == mine.end());
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) CHECK(line.find("rwx") == std::string::npos);
}

TEST_CASE("image kernels: the host's rounding mode does not matter and stays") {
  KernelCache cache;
  std::mt19937 random(2);
  Image image(SurfaceType::SURFTYPE_2D, "R16G16B16A16_UNORM", 16, 16);
  image.randomize(random);
  SamplerState sampler;
  sampler.min_filter = sampler.mag_filter = MapFilter::LINEAR;
  const SampleMessage message{SampleOp::sample_lz, 8, 2, 4, false};
  const SampleKernel* kernel = cache.find(message, image.state, sampler, {});
  REQUIRE(kernel != nullptr);
  const Surface surface = image.surface();
  for (unsigned n = 0; n < 20; ++n) {
    std::array<std::uint32_t, 32> data, expected;
    for (std::uint32_t& value : data) value = bits(std::uniform_real_distribution<float>(0, 1)(random));
    expected = data;
    kernel->run({&surface, &sampler, {}, 0xff, expected.data(), nullptr});
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0xffc0);
    kernel->run({&surface, &sampler, {}, 0xff, data.data(), nullptr});
    const unsigned after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before);
    CHECK(after == 0xffc0);
    CHECK(data == expected);
  }
}

TEST_CASE("image kernels: a site uses the kernel of what it sees, or the definition") {
  KernelCache cache;
  std::mt19937 random(4);
  KernelSite site, typed_site;
  const SampleMessage message{SampleOp::sample_lz, 8, 2, 4, false};
  SamplerState sampler;
  for (unsigned n = 0; n < 200; ++n) {
    Image image(n % 3 == 0 ? SurfaceType::SURFTYPE_2D : SurfaceType::SURFTYPE_1D, "R8G8B8A8_UNORM", 1 + n % 7,
                n % 3 == 0 ? 1 + n % 5 : 1);
    image.randomize(random);
    if (n % 5 == 0)
      sampler.min_filter = sampler.mag_filter = n % 2 == 0 ? MapFilter::LINEAR : MapFilter::NEAREST;
    Surface surface = image.surface();
    if (n % 11 == 0) surface.size = surface.direct = 3;  // too small for any kernel
    const SampleControl control{n % 4 == 0 ? 1u << 12 : 0};
    std::array<std::uint32_t, 64> data, expected;
    for (std::uint32_t& value : data) value = bits(static_cast<float>(random() % 100) / 50);
    expected = data;
    const ImageFault fault = sample(message, {&surface, &sampler, control, 0xff, expected.data(), nullptr});
    const ImageFault other =
        cache.run(message, {&surface, &sampler, control, 0xff, data.data(), nullptr}, site);
    CHECK(fault.kind == other.kind);
    CHECK(fault.address == other.address);
    if (!fault) CHECK(data == expected);

    TypedMessage typed;
    typed.coordinates = 1;
    for (unsigned i = 0; i < 8; ++i) expected[i] = data[i] = i;
    const ImageFault of_read = typed_access(typed, {&surface, 0xff, expected.data(), nullptr});
    CHECK(cache.run(typed, {&surface, 0xff, data.data(), nullptr}, typed_site).kind == of_read.kind);
    if (!of_read) CHECK(std::equal(data.begin(), data.begin() + 32, expected.begin()));
  }
  CHECK(cache.size() > 20);
}
