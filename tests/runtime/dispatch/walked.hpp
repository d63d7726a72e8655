#pragma once
// A walk whose threads are written as micro-ops, or as GEN code.
#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/parser.hpp"
#include "frontend/ir/verifier.hpp"
#include "runtime/device.hpp"
#include "runtime/dispatch/dispatch.hpp"
#include "runtime/translation.hpp"

namespace eum::rt {

inline constexpr auto family = gen::Family::Gen9;

struct Outcome {
  WalkerCounts counts;
  std::optional<GuestFault> fault;
};

/// A walk over code in text form. Each thread has one register of its own, r1, whose first dword is its
/// number; r2 is the cross-thread data: groups in x, groups in y, threads per group.
class Walked {
 public:
  explicit Walked(const std::string& body, jit::EngineKind kind = jit::EngineKind::reference,
                  unsigned simd = 16, jit::CompileOptions options = {.exact_registers = false}) {
    const std::string head = fmt::format("kernel @k simd {} family gen9 file {} slot 32 masks 1\n", simd,
                                         gen::target(family).file_bytes());
    auto function = ir::parse(head + body);
    if (!function) FAIL(function.error().message);
    if (auto good = ir::verify(*function); !good) FAIL(good.error().message);
    auto device = Device::create({.engine = kind, .workers = 1});
    if (!device) FAIL(device.error().message);
    engine_ = std::move(*device);
    auto executable = engine_->engine().compile(*function, options);
    if (!executable) FAIL(executable.error().message);
    executable_ = std::move(*executable);
    code_ = thread_code(*function, *executable_, simd);
    code_.promised = options.promised();
    set_command();
  }
  explicit Walked(const KernelCode& kernel, jit::EngineKind kind,
                  const jit::CompileOptions& options = run_only) {
    auto device = Device::create({.engine = kind, .workers = 1});
    if (!device) FAIL(device.error().message);
    engine_ = std::move(*device);
    auto translated = translate(kernel, engine_->engine(), options);
    if (!translated) FAIL(translated.error().message);
    executable_ = std::move(translated->executable);
    code_ = translated->code;
    set_command();
  }

  /// Makes surface 0 a buffer of `dwords` zeros.
  void output(std::size_t dwords) {
    data.assign(dwords, 0);
    surfaces[0] = mem::buffer_surface(reinterpret_cast<std::byte*>(data.data()), 4 * dwords, 0);
  }

  /// Completes the command for a walk by `workers`.
  void complete(unsigned workers) {
    per_thread_.assign(command.threads_per_group * 32, std::byte{0});
    for (std::uint32_t t = 0; t < command.threads_per_group; ++t)
      std::memcpy(per_thread_.data() + 32 * t, &t, 4);
    command.per_thread = per_thread_;
    if (!cross) cross = {command.groups[0], command.groups[1], command.threads_per_group};
    std::memcpy(cross_thread_.data(), cross->data(), 32);
    command.cross_thread = cross_thread_;
    command.slots = thread_slots(workers, code_.waits, command.threads_per_group);
  }

  Result<Outcome> run(unsigned workers) {
    Workers pool(workers);
    return run(pool, workers);
  }
  /// Runs on workers that may have run other walks before.
  Result<Outcome> run(Workers& pool, unsigned workers) {
    complete(workers);
    const auto dispatch = Dispatch::create(pool, command);
    if (!dispatch) return dispatch.error();
    if (const auto progress = (*dispatch)->step(); !progress) return progress.error();
    return Outcome{(*dispatch)->counts(), (*dispatch)->fault()};
  }
  Outcome done(unsigned workers) {
    auto outcome = run(workers);
    if (!outcome) FAIL(outcome.error().message);
    return *outcome;
  }
  GuestFault fault(unsigned workers) {
    const Outcome outcome = done(workers);
    REQUIRE(outcome.fault);
    return *outcome.fault;
  }

  WalkerCommand command;
  mem::BindingTable surfaces;
  std::vector<std::uint32_t> data;
  std::optional<std::array<std::uint32_t, 8>> cross;  ///< cross-thread data, if the test sets its own

 private:
  void set_command() {
    command.code = &code_;
    command.surfaces = &surfaces;
    command.per_thread_bytes = 32;
  }

  ThreadCode code_;
  std::unique_ptr<Device> engine_;
  std::unique_ptr<jit::Executable> executable_;
  std::vector<std::byte> per_thread_;
  std::array<std::byte, 32> cross_thread_{};
};

/// Computes %at, the place of 16 bytes for each thread of a walk whose first group is 0,0,0.
inline const std::string locate =
    "  %x = reg_read.u32x1 r0.1<1;1,0>\n  %y = reg_read.u32x1 r0.6<1;1,0>\n"
    "  %z = reg_read.u32x1 r0.7<1;1,0>\n  %t = reg_read.u32x1 r1<1;1,0>\n"
    "  %nx = reg_read.u32x1 r2<1;1,0>\n  %ny = reg_read.u32x1 r2.1<1;1,0>\n"
    "  %nt = reg_read.u32x1 r2.2<1;1,0>\n"
    "  %a0 = mad.u32x1 %z, %ny, %y\n  %a1 = mad.u32x1 %a0, %nx, %x\n  %a2 = mad.u32x1 %a1, %nt, %t\n"
    "  %c16 = constant.u32x1 16\n  %at = mul.u32x1 %a2, %c16\n";

inline constexpr jit::EngineKind engines[] = {jit::EngineKind::reference, jit::EngineKind::avx2};

}  // namespace eum::rt
