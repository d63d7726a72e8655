#include "tests/jit/world.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <span>

#include "frontend/ir/printer.hpp"
#include "memory/image/format.hpp"
#include "tests/optimisations.hpp"

namespace eum::jit::test {
namespace {

constexpr std::size_t page = 4096;

bool read_back(void* context, std::uint64_t address, void* to, std::uint64_t size) {
  std::memcpy(to, static_cast<std::byte*>(context) + (address - World::callbacks), size);
  return true;
}
bool write_back(void* context, std::uint64_t address, const void* from, std::uint64_t size) {
  std::memcpy(static_cast<std::byte*>(context) + (address - World::callbacks), from, size);
  return true;
}

/// An embedder's state reduced to a sum of the operands it was called with.
void call_back(void* context, std::uint64_t number, std::span<const std::uint64_t> operands,
               std::span<std::uint64_t> results) {
  auto& sum = *static_cast<std::uint64_t*>(context);
  sum = (sum + number) * 0x9e3779b97f4a7c15 + operands.size();
  for (std::uint64_t operand : operands) sum = (sum ^ operand) * 0xd6e8feb86659fd93 + (sum >> 40);
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = sum >> (7 + i);
}

std::string bytes_difference(std::string_view what, const std::vector<std::byte>& a,
                             const std::vector<std::byte>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    std::string text = fmt::format("{} from byte {:#x}:", what, i);
    for (const auto* bytes : {&a, &b}) {
      text += bytes == &a ? " " : " and ";
      for (std::size_t k = i; k < std::min(a.size(), i + 16); ++k)
        text += fmt::format("{:02x}", std::to_integer<unsigned>((*bytes)[k]));
    }
    return text;
  }
  return {};
}

}  // namespace

ir::Function copy(const ir::Function& function) {
  ir::Function result(function);
  result.resource = std::pmr::get_default_resource();
  return result;
}

std::uint64_t interesting_bits(Random& random) {
  constexpr std::uint16_t halves[] = {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3800, 0x3bff, 0x3c00,
                                      0xbc00, 0x4200, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7d23, 0xfe00};
  constexpr std::uint32_t floats[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                      0x3effffff, 0x3f000000, 0x3f7fffff, 0x3f800000, 0xbf800001,
                                      0x40200000, 0x4b000001, 0x4f000000, 0xcf000000, 0x4effffff,
                                      0x7f7fffff, 0x7f800000, 0xff800000, 0x7fa12345, 0xffc00000};
  constexpr std::uint64_t doubles[] = {
      0x0000000000000001, 0x8000000000000000, 0x000fffffffffffff, 0x0010000000000000,
      0x3fefffffffffffff, 0x3ff0000000000000, 0xbff8000000000000, 0x41dfffffffc00000,
      0x41efffffffe00000, 0x43e0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
      0xfff0000000000000, 0x7ff4123456789abc, 0xfff8000000000000, 0x36a0000000000000};
  constexpr std::uint64_t integers[] = {0,
                                        1,
                                        2,
                                        7,
                                        8,
                                        15,
                                        31,
                                        32,
                                        0x7f,
                                        0x80,
                                        0xff,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        ~std::uint64_t{0}};
  const auto pick = [&](const auto& list) { return std::uint64_t{list[random() % std::size(list)]}; };
  const auto twice = [&](auto half, unsigned bits) {
    const std::uint64_t low = half();
    return low | half() << bits;
  };
  switch (random() % 8) {
    case 0:
      return twice([&] { return twice([&] { return pick(halves); }, 16); }, 32);
    case 1:
      return twice([&] { return pick(floats); }, 32);
    case 2:
      return pick(doubles);
    case 3:
      return pick(integers);
    case 4:
      return twice([&] { return pick(integers) & 0xffffffff; }, 32);
    case 5:  // floats of middling size
      return twice([&] { return (random() & 0x83ffffff) + 0x3d800000; }, 32) & ~std::uint64_t{0};
    case 6:
      return random() % 100;
    default:
      return random();
  }
}

GuardedBytes::GuardedBytes(std::size_t bytes, bool at_end)
    : mapped_((bytes + page - 1) / page * page + 2 * page), size_(bytes) {
  pages_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages_ != MAP_FAILED);
  auto* const first = static_cast<std::byte*>(pages_);
  REQUIRE(mprotect(first, page, PROT_NONE) == 0);
  REQUIRE(mprotect(first + mapped_ - page, page, PROT_NONE) == 0);
  data_ = at_end ? first + mapped_ - page - bytes : first + page;
}

GuardedBytes::~GuardedBytes() { munmap(pages_, mapped_); }

World::World(bool at_end)
    : surface_memory_(surface_bytes, at_end),
      disjoint_memory_(surface_bytes, at_end),
      slm_memory_(slm_bytes, at_end),
      scratch_memory_(scratch_bytes, at_end),
      region_memory_(region_bytes, at_end),
      read_only_memory_(read_only_bytes, at_end),
      low_memory_(low_region_bytes, at_end),
      callback_memory_(callbacks_bytes, at_end),
      state_memory_(states_bytes, at_end),
      memory_{&surface_memory_,   &slm_memory_, &scratch_memory_,  &region_memory_,
              &read_only_memory_, &low_memory_, &callback_memory_, &disjoint_memory_} {
  surfaces_[surface] = mem::buffer_surface(surface_memory_.data(), surface_bytes, 0);
  surfaces_[disjoint_surface] = mem::buffer_surface(disjoint_memory_.data(), surface_bytes, 0);
  // Ends in the read-only region.
  surfaces_[indirect_surface] = mem::buffer_surface(nullptr, region_bytes + 32, region);
  REQUIRE(space_.map(region, region_bytes, region_memory_.data(), mem::Access::ReadWrite, "region"));
  REQUIRE(space_.map(read_only, read_only_bytes, read_only_memory_.data(), mem::Access::Read, "read-only"));
  REQUIRE(space_.map(low_region, low_region_bytes, low_memory_.data(), mem::Access::ReadWrite, "low"));
  REQUIRE(space_.map_callbacks(callbacks, callbacks_bytes, {callback_memory_.data(), &read_back, &write_back},
                               mem::Access::ReadWrite, "callbacks"));
  mem::image::SurfaceState texels;
  texels.type = mem::image::SurfaceType::SURFTYPE_2D;
  texels.format = mem::image::find_format("R32_UINT")->code;
  texels.width = 16;
  texels.height = 15;
  texels.depth = 1;
  texels.pitch = 64;
  for (unsigned index : {image, cut_image, color_image}) {
    surfaces_[index] = surfaces_[surface];
    surfaces_[index].image = texels;
  }
  surfaces_[cut_image].size = surfaces_[cut_image].direct = surface_bytes / 10;
  surfaces_[color_image].image.format = mem::image::find_format("R8G8B8A8_UNORM")->code;
  sampler_.min_filter = sampler_.mag_filter = mem::image::MapFilter::LINEAR;
  callbacks_ = {&callback_sum_, &call_back};
  environment_ = {surfaces_.data(), scratch_memory_.data(), scratch_bytes,
                  &space_,          slm_memory_.data(),     slm_bytes,
                  &callbacks_};
  environment_.samplers = &sampler_;
  environment_.sampler_count = 1;
  environment_.image_kernels = &image_cache_;

  texels.height = 8;
  const auto put = [&](unsigned offset, const mem::image::SurfaceState& state, std::uint64_t address) {
    const auto bytes = mem::image::encode(state, address);
    std::memcpy(state_memory_.data() + offset, bytes.data(), bytes.size());
  };
  put(buffer_state, mem::buffer_surface(nullptr, buffer_bytes, region).image, region);
  put(image_state, texels, low_region);
  REQUIRE(space_.map(states, states_bytes, state_memory_.data(), mem::Access::Read, "states"));
  environment_.heap.surfaces = environment_.heap.states = states;
  environment_.heap.surface_bytes = environment_.heap.state_bytes = states_bytes;
}

void World::reset(const ir::Function& function, std::uint64_t seed) {
  Random random(seed);
  const auto fill = [&](std::byte* to, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 8) {
      const std::uint64_t bits = interesting_bits(random);
      std::memcpy(to + i, &bits, std::min<std::size_t>(8, bytes - i));
    }
  };
  for (const GuardedBytes* part : memory_) fill(part->data(), part->size());
  callback_sum_ = random();
  environment_.exclusive = seed % 2 != 0;
  layout_ = StateLayout::of(function);
  // Engines may access more of the state than the function declares.
  layout_.size += StateLayout::most_regions * sizeof(CachedRegion);
  file_bytes_ = function.file_bytes;
  mask_variables_ = function.mask_variables;
  state_bytes_.assign(layout_.size + 64, std::byte{0});
  void* aligned = state_bytes_.data();
  std::size_t space = state_bytes_.size();
  state_ = new (std::align(64, layout_.size, aligned, space)) ThreadState;
  state_->environment = &environment_;
  fill(file(), file_bytes_);
  const std::uint32_t lanes = function.simd == 32 ? ~0u : (1u << function.simd) - 1;
  for (unsigned i = 0; i < mask_variables_; ++i) {
    const std::uint32_t choices[] = {lanes, lanes, 0, 0x55555555, 1, static_cast<std::uint32_t>(random())};
    masks()[i] = choices[random() % std::size(choices)] & lanes;
  }
  fill(layout_.flags_of(*state_), function.flag_bits / 8);
  const std::uint32_t keeps[] = {0, 0x4c0, 0x40, static_cast<std::uint32_t>(random() & 0x4c0)};
  state_->fp_mode = static_cast<std::uint32_t>(random() % 4) << 4 | keeps[random() % std::size(keeps)];
}

FinalState World::run(const Executable& executable) {
  FinalState result;
  result.status = executable.run(*state_);
  result.state = *state_;
  result.image = executable.save(*state_, result.status);
  for (const GuardedBytes* part : memory_)
    result.memory.insert(result.memory.end(), part->data(), part->data() + part->size());
  const auto sum = std::as_bytes(std::span(&callback_sum_, 1));
  result.memory.insert(result.memory.end(), sum.begin(), sum.end());
  return result;
}

std::string difference(const FinalState& a, const FinalState& b, bool exact) {
  std::string found;
  const auto differ = [&](std::string_view what, std::uint64_t x, std::uint64_t y) {
    if (found.empty() && x != y) found = fmt::format("{} {:#x} and {:#x}", what, x, y);
  };
  const ThreadImage &x = a.image, &y = b.image;
  const Fault &f = a.state.fault, &g = b.state.fault;
  differ("status", static_cast<std::uint64_t>(a.status), static_cast<std::uint64_t>(b.status));
  differ("fault kind", static_cast<std::uint64_t>(f.kind), static_cast<std::uint64_t>(g.kind));
  differ("fault ip", f.guest_ip, g.guest_ip);
  differ("fault lane", f.lane, g.lane);
  differ("fault bytes", f.bytes, g.bytes);
  differ("fault address", f.address, g.address);
  differ("execution mask", x.execution_mask, y.execution_mask);
  for (std::size_t i = 0; i < x.parked.size(); ++i)
    differ(fmt::format("mask variable {}", i + 1), x.parked[i], y.parked[i]);
  if (a.status != Status::Exited) differ("ip", x.ip, y.ip);
  differ("fp_mode", x.fp_mode, y.fp_mode);
  differ("barrier_signals", x.barrier_signals, y.barrier_signals);
  differ("budget", static_cast<std::uint64_t>(a.state.budget), static_cast<std::uint64_t>(b.state.budget));
  if (found.empty() && exact) found = bytes_difference("registers", x.registers, y.registers);
  if (found.empty() && exact) found = bytes_difference("flags", x.flags, y.flags);
  if (found.empty()) found = bytes_difference("memory", a.memory, b.memory);
  return found;
}

namespace {

/// An engine in which every optimisation outside a given set is disabled.
class ReducedEngine final : public Engine {
 public:
  ReducedEngine(std::unique_ptr<Engine> engine, Optimisations left, std::string name)
      : engine_(std::move(engine)), left_(left), name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                              const CompileOptions& options) override {
    CompileOptions reduced = options;
    for (const OptimisationInfo& row : optimisation_table)
      if (!left_[row.optimisation]) reduced.optimisations.disable(row.optimisation);
    return engine_->compile(function, reduced);
  }

 private:
  std::unique_ptr<Engine> engine_;
  Optimisations left_;
  std::string name_;
};

std::vector<std::unique_ptr<Engine>> engines_with(const std::vector<eum::test::Reduced>& settings) {
  std::vector<std::unique_ptr<Engine>> list;
  for (const EngineInfo& info : engines()) {
    if (info.kind == EngineKind::reference) continue;
    if (const auto possible = info.make(); !possible) {
      WARN("not compared: " << possible.error().message);
      continue;
    }
    for (const eum::test::Reduced& setting : settings) {
      std::string name(info.name);
      if (!setting.name.empty()) name += " " + setting.name;
      list.push_back(std::make_unique<ReducedEngine>(*info.make(), setting.left, std::move(name)));
    }
  }
  return list;
}

}  // namespace

const std::vector<std::unique_ptr<Engine>>& other_engines() {
  static const auto engines = [] {
    const eum::test::Reduced setting = eum::test::reduced_by_environment();
    auto list = engines_with({setting});
    // avx512 as it is on other processors.
    const MaskHome masks = faster_mask_home() == MaskHome::Lanes ? MaskHome::Registers : MaskHome::Lanes;
    if (auto engine = make_avx512_engine(masks))
      list.push_back(
          std::make_unique<ReducedEngine>(std::move(*engine), setting.left, "avx512 with masks elsewhere"));
    return list;
  }();
  return engines;
}

const std::vector<Engine*>& every_engine() {
  static const std::unique_ptr<Engine> reference = make_reference_engine();
  static const std::vector<Engine*> engines = [] {
    std::vector<Engine*> all{reference.get()};
    for (const auto& engine : other_engines()) all.push_back(engine.get());
    return all;
  }();
  return engines;
}

const std::vector<std::unique_ptr<Engine>>& reduced_engines() {
  static const auto engines = engines_with(eum::test::every_reduced());
  return engines;
}

std::unique_ptr<Executable> compiled(Engine& engine, const ir::Function& function,
                                     const CompileOptions& options) {
  ir::Function own = copy(function);
  auto executable = engine.compile(own, options);
  if (!executable) FAIL(engine.name() << ": " << executable.error().message);
  return std::move(*executable);
}

namespace {

void expect_agreement(const Executable& wanted, const Executable& found, const ir::Function& function,
                      std::uint64_t first_seed, unsigned seeds, std::string_view name) {
  static World world;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    world.reset(function, seed);
    const FinalState expected = world.run(wanted);
    world.reset(function, seed);
    const std::string problem = difference(expected, world.run(found));
    if (!problem.empty()) FAIL(name << ": " << problem << "\n" << print(function));
  }
}

}  // namespace

void expect_agreement(const ir::Function& function, std::uint64_t first_seed, unsigned seeds) {
  const auto reference = compiled(*make_reference_engine(), function);
  for (const auto& engine : other_engines())
    expect_agreement(*reference, *compiled(*engine, function), function, first_seed, seeds, engine->name());
}

bool expect_agreement(const ir::Function& function, void (*pass)(ir::Function&), unsigned seeds) {
  ir::Function passed = copy(function);
  pass(passed);
  const auto reference = make_reference_engine();
  expect_agreement(*compiled(*reference, function), *compiled(*reference, passed), function, 0, seeds,
                   "after the pass");
  return passed.values.size() != function.values.size();
}

}  // namespace eum::jit::test
