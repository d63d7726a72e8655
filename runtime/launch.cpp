// One WalkerCommand for each walk of the payload, one after the other.
#include "runtime/launch.hpp"

#include <chrono>
#include <utility>

namespace eum::rt {

Result<Launch> Launch::prepare(Module& module, const Kernel& kernel, std::span<const ArgumentValue> arguments,
                               const NdRange& range) {
  if (!kernel.unsupported.empty()) return error("kernel {}: {}", kernel.name, kernel.unsupported);
  const auto translated = module.translated(kernel);
  if (!translated) return translated.error();
  Launch launch(module, kernel, **translated);
  ImplicitBuffers implicit = module.segments();
  if (kernel.private_bytes != 0) {
    const PayloadLimits limits;
    const std::uint32_t threads = (limits.max_local_size + kernel.simd_size - 1) / kernel.simd_size;
    const std::uint64_t slots = module.device().dispatcher().slots_needed((*translated)->code.waits, threads);
    auto memory = module.device().allocate(slots * kernel.simd_size * kernel.private_bytes, "private memory");
    if (!memory) return memory.error();
    launch.private_memory_ = *memory;
    implicit.private_memory = mem::buffer_surface(memory->host, memory->size, memory->address);
  }
  auto payload = build_payload(kernel, arguments, range, implicit);
  if (!payload) return payload.error();
  launch.payload_ = std::move(*payload);
  return launch;
}

Launch::Launch(Launch&& other) noexcept
    : module_(other.module_),
      kernel_(other.kernel_),
      translated_(other.translated_),
      payload_(std::move(other.payload_)),
      private_memory_(std::exchange(other.private_memory_, {})) {}

Launch& Launch::operator=(Launch&& other) noexcept {
  std::swap(module_, other.module_);
  std::swap(kernel_, other.kernel_);
  std::swap(translated_, other.translated_);
  std::swap(payload_, other.payload_);
  std::swap(private_memory_, other.private_memory_);
  return *this;
}

Launch::~Launch() {
  if (private_memory_.size != 0) module_->device().release(private_memory_);
}

Result<LaunchReport> Launch::run() {
  using Clock = std::chrono::steady_clock;
  Device& device = module_->device();
  LaunchReport report;
  for (const Walk& walk : payload_.walks) {
    WalkerCommand command;
    command.code = &translated_->code;
    command.surfaces = &payload_.bindings;
    command.space = &device.memory();
    command.first_group = walk.first_group;
    command.groups = walk.group_count;
    command.threads_per_group = walk.threads_per_group;
    command.last_mask = walk.last_thread_mask;
    command.per_thread = walk.per_thread;
    command.per_thread_bytes = kernel_->per_thread_bytes;
    command.cross_thread = walk.cross_thread;
    command.header = thread_header(*kernel_, {});
    command.slm_bytes = payload_.slm_bytes;
    command.budget = device.options().budget;
    const std::uint32_t slots =
        device.dispatcher().slots_needed(translated_->code.waits, walk.threads_per_group);
    const auto scratch = device.scratch(kernel_->scratch_bytes, slots);
    if (!scratch) return scratch.error();
    command.scratch = *scratch;

    const auto begin = Clock::now();
    const auto outcome = device.dispatcher().run(command);
    report.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    if (!outcome) return outcome.error();
    report.counts += outcome->counts;
    if (outcome->fault) {
      const auto code = module_->code(*kernel_);
      if (!code) return code.error();
      report.fault = describe(*outcome->fault, *code, *translated_);
      break;
    }
  }
  return report;
}

}  // namespace eum::rt
