#pragma once
// Threads of one function that run in batches, for tests.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {

/// A function that an engine has translated.
struct Compiled {
  Compiled(Engine& engine, std::string_view text, const CompileOptions& options) {
    ir::Function function = function_of_text(text);
    channels = ir::lane_mask(function.simd);
    auto made = engine.compile(function, options);
    if (!made) FAIL(made.error().message);
    executable = *std::move(made);
  }

  std::shared_ptr<Executable> executable;
  std::uint32_t channels;
};

/// `count` threads of a function: thread t finds t in r1, and the header is filled with 100.
class Threads {
 public:
  Threads(Engine& engine, std::string_view text, std::uint32_t count, const CompileOptions& options = {})
      : Threads(Compiled(engine, text, options), count) {}
  Threads(const Compiled& compiled, std::uint32_t count) : count_(count), executable_(compiled.executable) {
    const StateLayout& layout = executable_->layout();
    states_.reset(
        static_cast<std::byte*>(::operator new (count* std::size_t{layout.size}, std::align_val_t{64})));
    std::memset(states_.get(), 0xee, count * std::size_t{layout.size});
    for (std::uint32_t t = 0; t < count; ++t) {
      ThreadState& s = *new (&state(t)) ThreadState;
      s.environment = &environment_;
      layout.forget_regions(s);
      s.resume = 77;
      s.barrier_signals = 77;
      for (const FileRange& range : executable_->restored())
        for (std::uint32_t at = 0; at < range.bytes; at += 4) {
          const std::uint32_t value = range.offset + at < 64 ? t : 0;
          const auto* bytes = reinterpret_cast<const std::byte*>(&value);
          restored_.insert(restored_.end(), bytes, bytes + 4);
        }
    }
    for (std::uint32_t t = 0; t < count; ++t)
      state(t).begin = {{}, restored_.data() + t * (restored_.size() / count), compiled.channels};
    set_header(100);
  }
  void set_header(std::uint32_t value) {
    for (std::uint32_t t = 0; t < count_; ++t) state(t).begin.header.fill(value);
  }

  ThreadState& state(std::uint32_t t) {
    return *reinterpret_cast<ThreadState*>(states_.get() + t * std::size_t{executable_->layout().size});
  }
  /// All threads of `groups` groups, whose headers differ by 0x1000.
  ThreadBatch batch(bool begins, std::uint32_t groups = 1) {
    ThreadBatch batch;
    batch.state = &state(0);
    batch.threads = groups * count_;
    if (begins) {
      headers_.resize(groups);
      for (std::uint32_t g = 0; g < groups; ++g) headers_[g].bits.fill(0x1000 * g);
      batch.groups = headers_.data();
      batch.group_threads = count_;
      batch.group_states = &state(0);
    }
    batch.granted = 1000;
    batch.left = 1'000'000;
    return batch;
  }
  Status run(ThreadBatch& batch) {
    FpScope scope;
    return executable_->run(batch, scope);
  }
  void set_dword(std::uint32_t t, unsigned reg, std::uint32_t value) {
    std::memcpy(executable_->layout().file_of(state(t)) + reg * 32, &value, 4);
  }
  /// Bytes of a thread's register file from `offset` on, whether they are restored or not.
  void set_bytes(std::uint32_t t, std::uint32_t offset, std::span<const std::byte> bytes) {
    std::memcpy(executable_->layout().file_of(state(t)) + offset, bytes.data(), bytes.size());
    std::size_t from = t * (restored_.size() / count_);
    for (const FileRange& range : executable_->restored()) {
      for (std::uint32_t i = 0; i < bytes.size(); ++i)
        if (const std::uint32_t at = offset + i; at >= range.offset && at < range.offset + range.bytes)
          restored_[from + at - range.offset] = bytes[i];
      from += range.bytes;
    }
  }
  /// Of all threads.
  void set_register(unsigned reg, const std::array<std::uint32_t, 8>& value) {
    for (std::uint32_t t = 0; t < count_; ++t) set_bytes(t, reg * 32, std::as_bytes(std::span(value)));
  }
  void set_memory(const mem::Surface* surfaces, mem::AddressSpace* space) {
    environment_.surfaces = surfaces;
    environment_.space = space;
  }
  /// Of group `g` of the last batch().
  GroupHeader& header(std::uint32_t g) { return headers_[g]; }
  void set_local_memory(std::span<std::byte> memory) {
    environment_.slm = memory.data();
    environment_.slm_bytes = static_cast<std::uint32_t>(memory.size());
  }
  const Executable& executable() const { return *executable_; }
  bool register_use_reads(std::uint32_t offset) const {
    return std::ranges::any_of(executable_->register_use().read, [&](const FileRange& range) {
      return offset >= range.offset && offset < range.offset + range.bytes;
    });
  }
  CachedRegion& region(std::uint32_t t, std::uint32_t i) {
    return executable_->layout().regions_of(state(t))[i];
  }
  std::uint32_t dword(std::uint32_t t, unsigned reg) {
    std::uint32_t value;
    std::memcpy(&value, executable_->layout().file_of(state(t)) + reg * 32, 4);
    return value;
  }

 private:
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::uint32_t count_;
  std::shared_ptr<Executable> executable_;
  Environment environment_;
  std::unique_ptr<std::byte, Delete> states_;
  std::vector<std::byte> restored_;
  std::vector<GroupHeader> headers_;
};

/// Calls check(engine) for each engine that translates, with all optimisations, whatever EUMULATE_DISABLE
/// says.
template <class Check>
void on_whole_engines(Check check) {
  for (const EngineInfo& info : engines()) {
    if (info.kind == EngineKind::reference) continue;
    if (const auto engine = info.make())
      check(**engine);
    else
      WARN("not tested: " << engine.error().message);
  }
}

inline void on_every_engine(const std::function<void(Engine&)>& check) {
  const auto reference = make_reference_engine();
  check(*reference);
  for (const auto* engines : {&other_engines(), &reduced_engines()})
    for (const auto& engine : *engines) check(*engine);
}

}  // namespace eum::jit::test
