#pragma once
// A small machine for tests of engines: surfaces, shared local memory, scratch, address space regions (one of
// them only reachable through callbacks) and a thread state, all filled from a seed. Two runs from the same
// seed start equal.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/image/kernels/kernel_cache.hpp"
#include "memory/surface.hpp"

namespace eum::jit::test {

using Random = std::mt19937_64;

/// Sites of hundreds of runs each are sampled under sanitizers: one in this many is checked.
constexpr unsigned many_runs_step = EUMULATE_STEP == 1 ? 1 : 4 * EUMULATE_STEP;

/// Selects one site in `step` to be checked.
class SiteSample {
 public:
  explicit SiteSample(unsigned step) : step_(step) {}
  bool takes_next() { return ++seen_ % step_ == 0; }

 private:
  unsigned step_, seen_ = 0;
};

/// A deep copy: engines may rewrite the function that they compile.
ir::Function copy(const ir::Function& function);

/// A 64-bit pattern whose low bits are interesting for every type: edges of integers and floats, small
/// numbers, noise.
std::uint64_t interesting_bits(Random& random);

/// Everything that a run may change.
struct FinalState {
  Status status = Status::Exited;
  ThreadState state;
  ThreadImage image;
  std::vector<std::byte> memory;
};

/// The first difference as text; empty if there is none. `exact`: registers and flags are compared too, as is
/// right where CompileOptions::exact_registers is set.
std::string difference(const FinalState& a, const FinalState& b, bool exact = true);

/// Memory between two pages that must not be touched, adjacent to the one behind it or the one before it.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t bytes, bool at_end);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* pages_;
  std::size_t mapped_;
  std::byte* data_;
  std::size_t size_;
};

class World {
 public:
  static constexpr unsigned surface = 3, surface_bytes = 1000;
  /// A surface without host memory of its own: its bytes are found through the address space.
  static constexpr unsigned indirect_surface = 4;
  /// One that shares no memory with `surface`, of as many bytes.
  static constexpr unsigned disjoint_surface = 5;
  static constexpr unsigned null_surface = 7;
  /// An R32_UINT image of 16 x 15 texels in the memory of `surface`; one that claims as many texels in a
  /// tenth of it; an R8G8B8A8_UNORM image.
  static constexpr unsigned image = 8, cut_image = 9, color_image = 10;
  static constexpr unsigned slm_bytes = 256;
  static constexpr unsigned scratch_bytes = 128;
  static constexpr std::uint64_t region = 0x1'0000'0000,
                                 region_bytes = 1024;  // A64, followed by a read-only one
  static constexpr std::uint64_t read_only = region + region_bytes, read_only_bytes = 64;
  static constexpr std::uint64_t low_region = 0x2000, low_region_bytes = 512;  // A32
  static constexpr std::uint64_t callbacks = 0x3000, callbacks_bytes = 128;    // A32
  /// Surface states, used as both heaps: a buffer in `region` at 0, an image in `low_region` at 64, no valid
  /// state at 128.
  static constexpr std::uint64_t states = 0x5000, states_bytes = 192;
  static constexpr unsigned buffer_state = 0, buffer_bytes = region_bytes - 24, image_state = 64;

  /// `at_end`: memory ends at the guard page behind it, instead of beginning at the one before it.
  explicit World(bool at_end = true);

  /// Memory, registers, flags, mask variables and FP mode from `seed`; with odd ones memory is exclusive.
  void reset(const ir::Function& function, std::uint64_t seed);
  ThreadState& state() { return *state_; }
  std::byte* file() { return layout_.file_of(*state_); }
  /// Writes local ids of `count` channels, from 0 up, as words to the register file from byte `place` on.
  void put_ids(unsigned place, std::uint16_t count) {
    for (std::uint16_t id = 0; id < count; ++id)
      std::memcpy(file() + place + std::size_t{2} * id, &id, sizeof id);
  }
  std::uint32_t* masks() { return layout_.masks_of(*state_); }
  /// The memory of `surface`.
  std::span<std::byte> surface_memory() { return {surface_memory_.data(), surface_bytes}; }
  /// Reports accesses beyond surfaces from now on; null: no longer.
  void observe(const BoundsObserver* observer) { environment_.bounds = observer; }
  /// The first 64 flag bits.
  std::uint64_t flags() { return get_flags(layout_.flags_of(*state_)); }
  void set_flags(std::uint64_t flags) { std::memcpy(layout_.flags_of(*state_), &flags, sizeof flags); }

  /// Continues from the current state.
  FinalState run(const Executable& executable);

 private:
  GuardedBytes surface_memory_, disjoint_memory_, slm_memory_, scratch_memory_, region_memory_,
      read_only_memory_, low_memory_, callback_memory_, state_memory_;
  std::uint64_t callback_sum_ = 0;
  mem::image::SamplerState sampler_;
  mem::image::KernelCache image_cache_;
  std::vector<mem::Surface> surfaces_ = std::vector<mem::Surface>(mem::binding_table_size);
  mem::AddressSpace space_;
  Callbacks callbacks_;
  Environment environment_;
  StateLayout layout_;
  static std::uint64_t get_flags(const std::byte* from) {
    std::uint64_t flags;
    std::memcpy(&flags, from, sizeof flags);
    return flags;
  }

  std::array<const GuardedBytes*, 8> memory_;
  unsigned file_bytes_ = 0;
  unsigned mask_variables_ = 0;
  std::vector<std::byte> state_bytes_;
  ThreadState* state_ = nullptr;
};

/// The engines that must agree with the reference engine.
const std::vector<std::unique_ptr<Engine>>& other_engines();
/// The reference engine and the other engines.
const std::vector<Engine*>& every_engine();
/// Variants of the other engines, each without one optimisation, and without all; they must agree too.
const std::vector<std::unique_ptr<Engine>>& reduced_engines();

/// The translation of a copy of `function`; the test fails if `engine` refuses it.
std::unique_ptr<Executable> compiled(Engine& engine, const ir::Function& function,
                                     const CompileOptions& options = {});
/// Runs `function` from `seeds` random states, the first seeded with `first_seed`, on the other engines and
/// on the reference engine; at the first difference the test fails with the function's text.
void expect_agreement(const ir::Function& function, std::uint64_t first_seed, unsigned seeds);
/// The same for the reference engine with and without this pass, which is alone there: others may find some
/// of what it finds. Returns whether the pass has changed anything.
bool expect_agreement(const ir::Function& function, void (*pass)(ir::Function&), unsigned seeds);

}  // namespace eum::jit::test
