#include "tests/frontend/visa/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/jit/world.hpp"

namespace eum::visa::test {

std::vector<std::byte> noise(std::size_t bytes, std::uint64_t seed) {
  jit::test::Random random(seed);
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t bits = jit::test::interesting_bits(random);
    std::memcpy(result.data() + i, &bits, std::min<std::size_t>(8, bytes - i));
  }
  return result;
}

Machine::Machine()
    : surface_memory_(surface_bytes * surfaces),
      slm_(slm_bytes),
      region_memory_(region_bytes),
      table_(mem::binding_table_size) {
  for (unsigned k = 0; k < surfaces; ++k)
    table_[k] = mem::buffer_surface(surface_memory_.data() + k * surface_bytes, surface_bytes, 0);
  REQUIRE(space_.map(region, region_bytes, region_memory_.data(), mem::Access::ReadWrite, "region"));
}

Machine::Outcome Machine::run(const ir::Function& function, jit::Engine& engine, const Start& start) {
  // The memory is not reallocated, because surfaces point to it.
  std::uint64_t seed = start.seed;
  for (std::vector<std::byte>* part : {&surface_memory_, &slm_, &region_memory_}) {
    const std::vector<std::byte> bytes = noise(part->size(), seed++);
    std::copy(bytes.begin(), bytes.end(), part->begin());
  }
  ir::Function own = jit::test::copy(function);
  auto executable = engine.compile(own, jit::CompileOptions{});
  REQUIRE(executable);
  const jit::StateLayout layout = (*executable)->layout();
  const std::unique_ptr<std::byte, decltype(&std::free)> bytes(
      static_cast<std::byte*>(std::aligned_alloc(64, layout.size)), &std::free);
  std::memset(bytes.get(), 0, layout.size);
  jit::ThreadState& state = *new (bytes.get()) jit::ThreadState;
  jit::Environment environment;
  environment.surfaces = table_.data();
  environment.space = &space_;
  environment.slm = slm_.data();
  environment.slm_bytes = slm_.size();
  state.environment = &environment;
  state.budget = 1'000'000;
  layout.masks_of(state)[0] = start.channels & ir::lane_mask(function.simd);
  std::memcpy(layout.file_of(state), start.payload.data(),
              std::min<std::size_t>(start.payload.size(), function.file_bytes));
  jit::Status status;
  while ((status = (*executable)->run(state)) == jit::Status::Waiting) {
  }
  Outcome outcome;
  if (status == jit::Status::Faulted)
    outcome.fault = fmt::format("fault {} at {}: {}", static_cast<int>(state.fault.kind),
                                state.fault.guest_ip, state.fault.address);
  else if (status != jit::Status::Exited)
    outcome.fault = fmt::format("status {}", static_cast<int>(status));
  const std::byte* file = layout.file_of(state);
  registers_.assign(file, file + function.file_bytes);
  for (const std::vector<std::byte>* part : {&surface_memory_, &slm_, &region_memory_})
    outcome.memory.insert(outcome.memory.end(), part->begin(), part->end());
  return outcome;
}

std::vector<jit::Engine*> engines() {
  static const std::unique_ptr<jit::Engine> reference = jit::make_reference_engine();
  std::vector<jit::Engine*> list{reference.get()};
  for (const auto& engine : jit::test::other_engines()) list.push_back(engine.get());
  return list;
}

std::string difference(const Machine::Outcome& a, const Machine::Outcome& b) {
  if (a.fault != b.fault) return fmt::format("'{}' and '{}'", a.fault, b.fault);
  const auto [x, y] = std::mismatch(a.memory.begin(), a.memory.end(), b.memory.begin(), b.memory.end());
  if (x == a.memory.end()) return {};
  return fmt::format("memory byte {}: {:#x} and {:#x}", x - a.memory.begin(), static_cast<unsigned>(*x),
                     static_cast<unsigned>(*y));
}

}  // namespace eum::visa::test
