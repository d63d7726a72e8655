#include "tests/frontend/visa/lsc_bed.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <new>

#include "frontend/ir/verifier.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/parser.hpp"
#include "tests/jit/world.hpp"

namespace ir = eum::ir;
namespace visa = eum::visa;
using eum::Result;

namespace lsc_bed {
namespace {

constexpr unsigned heap_bytes = 512;

std::uint64_t base_of(unsigned area) {
  constexpr std::uint64_t bases[] = {low_base, high_base, surface_base, heap_base, 0, 0};
  return bases[area];
}
std::size_t size_of(unsigned area) {
  constexpr std::size_t sizes[] = {area_bytes, area_bytes, area_bytes, heap_bytes, slm_bytes, scratch_bytes};
  return sizes[area];
}

mem::image::SurfaceState image_state() {
  mem::image::SurfaceState texels;
  texels.type = mem::image::SurfaceType::SURFTYPE_2D;
  texels.format = mem::image::find_format("R32_UINT")->code;
  texels.width = image_width;
  texels.height = image_height;
  texels.depth = 1;
  texels.pitch = 4 * image_width;
  texels.auxiliary = mem::image::Auxiliary::APPEND;
  return texels;
}

Result<ir::Function> lower(const std::string& text, unsigned grf) {
  const Result<visa::Module> module = visa::parse(text);
  if (!module) return module.error();
  visa::LowerRequest request;
  request.grf_bytes = grf;
  return visa::lower_kernel(*module, 0, "k", request);
}

}  // namespace

std::string kernel_text(const std::string& line, unsigned simd) {
  std::string text = ".version 4.1\n.kernel \"k\"\n";
  const auto variable = [&](const char* name, unsigned offset, unsigned bytes) {
    text += fmt::format(".decl {} v_type=G type=ud num_elts={} align=wordx32\n", name, bytes / 4);
    return fmt::format(".input {} offset={} size={}\n", name, offset, bytes);
  };
  std::string inputs = variable("S", scalars, addresses - scalars);
  text += fmt::format(".decl Q v_type=G type=uq num_elts={} align=qword alias=<S, 0>\n",
                      (addresses - scalars) / 8);
  inputs += variable("A", addresses, more_addresses - addresses);
  inputs += variable("B", more_addresses, values - more_addresses);
  inputs += variable("V", values, value_bytes);
  inputs += variable("Y", first_source, second_source - first_source);
  inputs += variable("Z", second_source, payload_bytes - second_source);
  text += ".decl C v_type=G type=ud num_elts=1 align=dword\n.decl P v_type=P num_elts=32\n";
  return text + inputs + fmt::format(".kernel_attr SimdSize={}\n.function \"k_main\"\nk_main:\n    ", simd) +
         line + "\n    ret (M1, 1)\n";
}

Bed::Bed() : surfaces_(mem::binding_table_size) {
  for (unsigned area = Low; area <= Scratch; ++area) areas_.emplace_back(size_of(area));
  for (unsigned area = Low; area <= Heap; ++area)
    REQUIRE(space_.map(base_of(area), size_of(area), areas_[area].data(), mem::Access::ReadWrite, "area"));
  surfaces_[surface_index] = mem::buffer_surface(areas_[Surface].data(), surface_bytes, surface_base);
  surfaces_[image_index] =
      mem::buffer_surface(areas_[Surface].data(), 4 * image_width * image_height, surface_base);
  surfaces_[image_index].image = image_state();
  surfaces_[image_index].counter = counter_address;
  environment_.surfaces = surfaces_.data();
  environment_.space = &space_;
  environment_.slm = areas_[Slm].data();
  environment_.slm_bytes = slm_bytes;
  environment_.scratch = areas_[Scratch].data();
  environment_.scratch_bytes = scratch_bytes;
  environment_.heap.surfaces = environment_.heap.states = heap_base;
  environment_.heap.surface_bytes = environment_.heap.state_bytes = heap_bytes;
}

lsc_model::Machine Bed::machine(unsigned grf, std::uint64_t seed) const {
  lsc_model::Machine machine;
  Random random(seed);
  machine.grf = grf;
  machine.registers.resize(payload_bytes);
  const auto fill = [&](std::vector<std::uint8_t>& bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      // No NaN, infinity or denormal of any size, so that every engine computes the same sums of floats.
      const std::uint64_t bits = (random() & 0xbfffbfffbfffbfff) | 0x0400040004000400;
      std::memcpy(bytes.data() + i, &bits, 8);
    }
  };
  fill(machine.registers);
  for (unsigned area = Low; area <= Scratch; ++area) {
    machine.areas.push_back({base_of(area), std::vector<std::uint8_t>(size_of(area)), area <= Heap});
    fill(machine.areas.back().bytes);
  }
  const auto state = [&](unsigned place, const mem::image::SurfaceState& what) {
    const auto bytes = mem::image::encode(what, surface_base, counter_address);
    std::memcpy(machine.areas[Heap].bytes.data() + place, bytes.data(), bytes.size());
  };
  const mem::image::SurfaceState buffer = mem::buffer_surface(nullptr, surface_bytes, 0).image;
  state(bindless_place, buffer);
  state(state_place, buffer);
  state(state_place + 64, image_state());
  constexpr std::uint32_t indirect_data = static_cast<std::uint32_t>(low_base) + 0x2a;
  std::memcpy(machine.registers.data(), &indirect_data, sizeof indirect_data);
  return machine;
}

Bed::Kernel Bed::compile(const std::string& text, unsigned grf) {
  const Result<ir::Function> function = lower(text, grf);
  if (!function) FAIL(function.error().message << "\n" << text);
  if (const auto valid = ir::verify(*function); !valid) FAIL(valid.error().message << "\n" << text);
  if (!function->strings.empty()) FAIL(function->strings[0]);
  static const std::unique_ptr<jit::Engine> reference = jit::make_reference_engine();
  Kernel kernel;
  const auto add = [&](jit::Engine& engine) {
    ir::Function own = jit::test::copy(*function);
    auto executable = engine.compile(own, {});
    if (!executable) FAIL(executable.error().message << "\n" << text);
    kernel.push_back(std::move(*executable));
  };
  add(*reference);
  for (const auto& engine : jit::test::other_engines()) add(*engine);
  return kernel;
}

std::string Bed::refusal(const std::string& text, unsigned grf) {
  const Result<ir::Function> function = lower(text, grf);
  if (!function) return function.error().message;
  return function->strings.empty() ? "" : function->strings[0];
}

std::string Bed::difference(const Kernel& kernel, std::uint32_t mask, const lsc_model::Machine& before,
                            const lsc_model::Machine& after, bool done) {
  for (std::size_t engine = 0; engine < kernel.size(); ++engine) {
    const jit::Executable& executable = *kernel[engine];
    for (unsigned area = Low; area <= Scratch; ++area)
      std::memcpy(areas_[area].data(), before.areas[area].bytes.data(), areas_[area].size());
    const jit::StateLayout& layout = executable.layout();
    const std::unique_ptr<std::byte, decltype(&std::free)> bytes(
        static_cast<std::byte*>(std::aligned_alloc(64, layout.size)), &std::free);
    std::memset(bytes.get(), 0, layout.size);
    jit::ThreadState& state = *new (bytes.get()) jit::ThreadState;
    state.environment = &environment_;
    layout.masks_of(state)[0] = mask;
    std::memcpy(layout.file_of(state), before.registers.data(), payload_bytes);
    const jit::Status status = executable.run(state);
    const jit::Status wanted = done ? jit::Status::Exited : jit::Status::Faulted;
    if (status != wanted)
      return fmt::format("engine {}: status {}, fault {} at {:#x}, reason {}", engine,
                         static_cast<int>(status), static_cast<int>(state.fault.kind), state.fault.address,
                         state.fault.reason != nullptr ? state.fault.reason : "none");
    const auto compare = [&](const char* what, const void* found, const std::vector<std::uint8_t>& expected) {
      const auto* at = static_cast<const std::uint8_t*>(found);
      for (std::size_t i = 0; i < expected.size(); ++i)
        if (at[i] != expected[i])
          return fmt::format("engine {}: {} byte {}: expected {:#x}, found {:#x}", engine, what, i,
                             expected[i], at[i]);
      return std::string();
    };
    if (std::string text = compare("register", layout.file_of(state), after.registers); !text.empty())
      return text;
    for (unsigned area = Low; area <= Scratch; ++area)
      if (std::string text =
              compare(fmt::format("area {}", area).c_str(), areas_[area].data(), after.areas[area].bytes);
          !text.empty() && done)
        return text;
  }
  return {};
}

}  // namespace lsc_bed
