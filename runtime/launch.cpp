// Runs one WalkerCommand per walk of the payload, one after the other.
#include "runtime/launch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "memory/base/within_host.hpp"

namespace eum::rt {
namespace {

bool prints(const Kernel& kernel) {
  return std::any_of(kernel.implicit.begin(), kernel.implicit.end(),
                     [](const Patch& patch) { return patch.item == PayloadItem::PrintfBuffer; });
}

/// Those of all buffers and images that have any bytes.
std::vector<const mem::Surface*> surfaces_of(std::span<const ArgumentValue> arguments) {
  std::vector<const mem::Surface*> surfaces;
  for (const ArgumentValue& argument : arguments) {
    if (const auto* buffer = std::get_if<BufferValue>(&argument)) surfaces.push_back(&buffer->surface);
    if (const auto* image = std::get_if<ImageValue>(&argument)) surfaces.push_back(&image->surface);
  }
  std::erase_if(surfaces, [](const mem::Surface* surface) { return surface->size == 0; });
  return surfaces;
}

std::uint64_t bytes_of(std::span<const mem::Surface* const> surfaces) {
  std::uint64_t bytes = 0;
  for (const mem::Surface* surface : surfaces) bytes += surface->size;
  return bytes;
}

/// Whether all are host memory, and no two share any.
bool are_disjoint(std::vector<const mem::Surface*> surfaces) {
  const auto begin = [](const mem::Surface* surface) {
    return reinterpret_cast<std::uintptr_t>(surface->base);
  };
  std::ranges::sort(surfaces, {}, begin);
  const auto overlap = std::ranges::adjacent_find(
      surfaces, [&](const mem::Surface* a, const mem::Surface* b) { return begin(b) - begin(a) < a->size; });
  return overlap == surfaces.end() && (surfaces.empty() || surfaces.front()->base != nullptr);
}

}  // namespace

Result<jit::LaunchFacts> launch_facts(Module& module, const Kernel& kernel,
                                      std::span<const ArgumentValue> arguments, const NdRange& range) {
  const auto code = module.code(kernel);
  if (!code) return code.error();
  jit::LaunchFacts facts = thread_facts(kernel, range, code->grf_bytes());
  facts.own_images = true;
  std::vector<const mem::Surface*> surfaces = surfaces_of(arguments);
  facts.beyond_caches = Device::is_beyond_caches(bytes_of(surfaces));
  for (const mem::Surface* segment : {&module.segments().constants, &module.segments().globals})
    if (segment->size != 0) surfaces.push_back(segment);
  // Where bounds are checked, each access is reported as the kernel has it.
  facts.disjoint_surfaces = !module.device().options().check_bounds && are_disjoint(std::move(surfaces));
  return facts;
}

Result<Launch> Launch::prepare(Module& module, const Kernel& kernel, std::span<const ArgumentValue> arguments,
                               const NdRange& range) {
  return within_host(kernel.name, [&] { return assemble(module, kernel, arguments, range); });
}

Result<LaunchReport> Launch::run() {
  return within_host(kernel_->name, [&] { return run_walks(); });
}

Result<Launch> Launch::assemble(Module& module, const Kernel& kernel,
                                std::span<const ArgumentValue> arguments, const NdRange& range) {
  if (!kernel.unsupported.empty()) return error("kernel {}: {}", kernel.name, kernel.unsupported);
  const auto facts = launch_facts(module, kernel, arguments, range);
  if (!facts) return facts.error();
  const auto translated = module.translated(kernel, *facts);
  if (!translated) return translated.error();
  Launch launch(module, kernel, **translated);
  ImplicitBuffers implicit = module.segments();
  if (kernel.private_bytes != 0) {
    const PayloadLimits limits;
    const std::uint32_t threads = (limits.max_local_size + kernel.simd_size - 1) / kernel.simd_size;
    const std::uint64_t slots =
        thread_slots(module.device().workers().count(), (*translated)->code.waits, threads);
    auto memory = module.device().allocate(slots * kernel.simd_size * kernel.private_bytes, "private memory");
    if (!memory) return memory.error();
    launch.private_memory_ = *memory;
    implicit.private_memory = mem::buffer_surface(memory->host, memory->size, memory->address);
  }
  if (prints(kernel)) {
    auto buffer = module.device().allocate(printf_buffer_bytes, "printf buffer");
    if (!buffer) return buffer.error();
    launch.printf_buffer_ = *buffer;
    clear_printf_buffer(buffer->bytes(), true);
    implicit.printf_buffer = buffer->surface();
  }
  auto payload = build_payload(kernel, arguments, range, implicit);
  if (!payload) return payload.error();
  launch.payload_ = std::move(*payload);
  for (mem::Surface& surface : launch.payload_.bindings->surfaces)
    mem::resolve(surface, module.device().memory());
  if (module.device().options().check_bounds) {
    launch.bounds_ = std::make_unique<BoundsLog>();
    // Disables inline accesses, so that the observer sees every access.
    for (mem::Surface& surface : launch.payload_.bindings->surfaces) surface.direct = 0;
  }
  return launch;
}

Launch::Launch(Launch&& other) noexcept
    : module_(other.module_),
      kernel_(other.kernel_),
      translated_(other.translated_),
      payload_(std::move(other.payload_)),
      private_memory_(std::exchange(other.private_memory_, {})),
      printf_buffer_(std::exchange(other.printf_buffer_, {})),
      control_(std::move(other.control_)),
      bounds_(std::move(other.bounds_)) {}

Launch& Launch::operator=(Launch&& other) noexcept {
  std::swap(module_, other.module_);
  std::swap(kernel_, other.kernel_);
  std::swap(translated_, other.translated_);
  std::swap(payload_, other.payload_);
  std::swap(private_memory_, other.private_memory_);
  std::swap(printf_buffer_, other.printf_buffer_);
  std::swap(control_, other.control_);
  std::swap(bounds_, other.bounds_);
  return *this;
}

Launch::~Launch() {
  for (const Buffer& buffer : {private_memory_, printf_buffer_})
    if (buffer.size != 0) module_->device().release(buffer);
}

PrintfText Launch::take_printf() {
  if (printf_buffer_.size == 0) return {};
  const Program& program = module_->program();
  const bool numbered = program.container != Container::Zebin && program.container != Container::Visa;
  PrintfText text = read_printf_buffer(
      printf_buffer_.bytes(),
      {numbered ? &kernel_->printf_strings : nullptr, &module_->device().memory(), program.pointer_bytes});
  clear_printf_buffer(printf_buffer_.bytes(), false);
  return text;
}

Result<std::vector<BoundsReport>> Launch::take_bounds() {
  if (!bounds_) return std::vector<BoundsReport>{};
  const auto code = module_->code(*kernel_);
  if (!code) return code.error();
  std::vector<BoundsReport> reports = bounds_->take();
  for (BoundsReport& report : reports) {
    report.instruction = instruction_text(*code, report.first.guest_ip);
    report.surface_bytes = (*payload_.bindings)[report.first.surface % mem::binding_table_size].size;
  }
  return reports;
}

Result<std::vector<WalkerCommand>> Launch::commands() {
  Device& device = module_->device();
  const auto slots_of = [&](const Walk& walk) {
    return thread_slots(device.workers().count(), translated_->code.waits, walk.threads_per_group);
  };
  std::uint32_t most_slots = 0;
  for (const Walk& walk : payload_.walks) most_slots = std::max(most_slots, slots_of(walk));
  const auto scratch = device.scratch(kernel_->scratch_bytes, most_slots);
  if (!scratch) return scratch.error();

  std::vector<WalkerCommand> commands;
  commands.reserve(payload_.walks.size());
  for (const Walk& walk : payload_.walks) {
    WalkerCommand& command = commands.emplace_back(walker_command(payload_, walk));
    command.code = &translated_->code;
    command.space = &device.memory();
    command.image_kernels = &device.image_kernels();
    command.slots = slots_of(walk);
    command.scratch = *scratch;
    command.budget = device.options().budget;
    command.exclusive = device.options().exclusive_memory;
    if (bounds_) command.bounds = &bounds_->observer();
  }
  return commands;
}

void Launch::stop() {
  const std::scoped_lock lock(control_->mutex);
  control_->stop = true;
  if (control_->current != nullptr) control_->current->stop();
}

Result<Dispatch::Progress> Launch::run(Dispatch& dispatch) {
  {
    const std::scoped_lock lock(control_->mutex);
    control_->current = &dispatch;
    if (control_->stop) dispatch.stop();
  }
  auto progress = dispatch.step();
  const std::scoped_lock lock(control_->mutex);
  control_->current = nullptr;
  return progress;
}

Result<LaunchReport> Launch::run_walks() {
  using Clock = std::chrono::steady_clock;
  LaunchReport report;
  const auto walks = commands();
  if (!walks) return walks.error();
  for (const WalkerCommand& walk : *walks) {
    const auto begin = Clock::now();
    auto dispatch = Dispatch::create(module_->device().workers(), walk);
    if (!dispatch) return dispatch.error();
    const auto progress = run(**dispatch);
    if (!progress) return progress.error();
    report.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    report.counts += (*dispatch)->counts();
    if (const auto& fault = (*dispatch)->fault()) {
      const auto code = module_->code(*kernel_);
      if (!code) return code.error();
      const auto& thread = (*dispatch)->faulted_thread();
      report.fault = rt::report(*fault, *code, *translated_,
                                {&module_->device().memory(), thread ? thread->ip : 0, walk.budget});
    }
    report.stopped = *progress == Dispatch::Progress::Paused;
    if (report.fault || report.stopped) break;
  }
  {
    const std::scoped_lock lock(control_->mutex);
    control_->stop = false;
  }
  report.printf = take_printf();
  auto bounds = take_bounds();
  if (!bounds) return bounds.error();
  report.out_of_bounds = std::move(*bounds);
  return report;
}

}  // namespace eum::rt
