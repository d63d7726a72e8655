// What all engines share: the registry, images of threads, the host's floating point mode.
#include "jit/engine.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <cstring>

#include "memory/base/heap_bytes.hpp"

namespace eum::jit {

namespace {

constexpr unsigned sticky_flags = 0x3f;  // no part of the mode

constexpr EngineInfo engine_table[] = {
#define JIT_ENGINE(name, text, doc) \
  {EngineKind::name, text, doc, []() -> Result<std::unique_ptr<Engine>> { return make_##name##_engine(); }},
#include "jit/engines.def"
#undef JIT_ENGINE
};

}  // namespace

std::span<const EngineInfo> engines() { return engine_table; }
const EngineInfo& info(EngineKind kind) { return engine_table[static_cast<std::size_t>(kind)]; }

std::optional<EngineKind> parse_engine(std::string_view name) {
  for (const EngineInfo& engine : engine_table)
    if (engine.name == name) return engine.kind;
  return std::nullopt;
}

std::string engine_names() {
  std::string names;
  for (const EngineInfo& engine : engine_table) (names += names.empty() ? "" : ", ") += engine.name;
  return names;
}

std::uint32_t FpScope::current() { return _mm_getcsr() & ~sticky_flags; }

FpScope::FpScope() : set(current()), host_(set) {}

FpScope::~FpScope() {
  if (set != host_) _mm_setcsr(host_);
}

bool uses_space(const ir::Function& function, ir::MemSpace space) {
  return std::ranges::any_of(function.accesses,
                             [&](const ir::MemoryAccess& access) { return access.space == space; });
}

std::uint32_t StateLayout::regions_of_all(const ir::Function& function) {
  const auto accesses = std::ranges::count_if(
      function.accesses, [](const ir::MemoryAccess& access) { return ir::info(access.space).in_space; });
  if (accesses == 0) return 0;
  return std::min(narrow_region_count + static_cast<std::uint32_t>(accesses), most_regions);
}

Executable::Executable(const ir::Function& function, std::optional<RegisterUse> use)
    : layout_(StateLayout::of(function)),
      register_use_(use ? *std::move(use)
                        : RegisterUse{{{0, function.file_bytes}}, {{0, function.file_bytes}}}),
      restored_(restored_slots(register_use_)),
      file_bytes_(function.file_bytes),
      flag_bytes_(function.flag_bits / 8),
      mask_variables_(function.mask_variables),
      uses_scratch_(uses_space(function, ir::MemSpace::Scratch)) {
  block_ips_.reserve(function.blocks.size());
  for (const ir::Block& block : function.blocks) block_ips_.push_back(block.guest_ip);
}

std::size_t Executable::metadata_bytes() const {
  return heap_bytes(register_use_.read) + heap_bytes(register_use_.written) + heap_bytes(restored_) +
         heap_bytes(block_ips_);
}

std::vector<FileRange> intersection(const RegisterUse& use) {
  std::vector<FileRange> both;
  auto a = use.read.begin(), b = use.written.begin();
  while (a != use.read.end() && b != use.written.end()) {
    const std::uint32_t begin = std::max(a->offset, b->offset);
    const std::uint32_t a_end = a->offset + a->bytes, b_end = b->offset + b->bytes;
    if (begin < std::min(a_end, b_end)) both.push_back({begin, std::min(a_end, b_end) - begin});
    (a_end < b_end ? a : b)++;
  }
  return both;
}

std::vector<FileRange> restored_slots(const RegisterUse& use) {
  std::vector<FileRange> slots;
  std::uint32_t done = restored_slot_bytes;  // the header is set separately
  for (const FileRange& range : intersection(use)) {
    const std::uint32_t begin = std::max(done, range.offset / restored_slot_bytes * restored_slot_bytes);
    const std::uint32_t last = range.offset + range.bytes + restored_slot_bytes - 1;
    const std::uint32_t end = last / restored_slot_bytes * restored_slot_bytes;
    if (end <= begin) continue;
    if (!slots.empty() && begin == done)
      slots.back().bytes += end - begin;
    else
      slots.push_back({begin, end - begin});
    done = end;
  }
  return slots;
}

void Executable::clear(ThreadState& state) const {
  auto* const bytes = reinterpret_cast<std::byte*>(&state);
  std::memset(bytes, 0, layout_.file);
  for (const FileRange& range : register_use_.read)
    std::memset(bytes + layout_.file + range.offset, 0, range.bytes);
  std::memset(bytes + layout_.masks, 0, layout_.size - layout_.masks);
}

/// Begins the batch's current thread.
void Executable::begin(ThreadBatch& batch) const {
  ThreadState& state = *batch.state;
  state.resume = 0;
  state.barrier_signals = 0;
  state.fp_mode = batch.fp_mode;
  std::memset(layout_.flags_of(state), 0, layout_.file - layout_.flags);
  std::uint32_t* masks = layout_.masks_of(state);
  std::memset(masks, 0, layout_.regions - layout_.masks);
  const Environment& environment = *state.environment;
  if (uses_scratch_ && environment.scratch_bytes != 0)
    std::memset(environment.scratch, 0, environment.scratch_bytes);
  if (environment.slm_bytes != 0 && batch.group_threads == 1)
    std::memset(environment.slm, 0, environment.slm_bytes);
  masks[0] = state.begin.mask;
  std::array<std::uint32_t, 8> header = state.begin.header;
  for (std::size_t i = 0; i < header.size(); ++i) header[i] |= batch.groups->bits[i];
  std::byte* file = layout_.file_of(state);
  std::memcpy(file, header.data(), sizeof header);
  const std::byte* from = state.begin.restored;
  for (const FileRange& range : restored_) {
    std::memcpy(file + range.offset, from, range.bytes);
    from += range.bytes;
  }
}

void Executable::advance(ThreadBatch& batch) const {
  const std::size_t group_bytes = std::size_t{batch.group_threads} * layout_.size;
  batch.state = layout_.next(*batch.state);
  if (batch.groups == nullptr || reinterpret_cast<std::byte*>(batch.state) !=
                                     reinterpret_cast<std::byte*>(batch.group_states) + group_bytes)
    return;
  batch.state = batch.group_states;
  ++batch.groups;
}

Status Executable::run(ThreadBatch& batch, FpScope& scope) const {
  for (;;) {
    ThreadState& state = *batch.state;
    if (batch.groups != nullptr) begin(batch);
    state.budget = batch.granted;
    const Status status = run(state, scope);
    batch.left -= batch.granted - state.budget;
    if (status != Status::Exited && status != Status::Waiting) return status;
    state.stopped = status;
    batch.exited += status == Status::Exited ? 1 : 0;
    if (--batch.threads == 0 || batch.left < batch.granted) return status;
    advance(batch);
  }
}

ThreadImage Executable::save(ThreadState& state, Status status) const {
  ThreadImage image;
  image.ip = status == Status::Faulted ? state.fault.guest_ip : next_ip(state);
  const std::byte* file = layout_.file_of(state);
  const std::byte* flags = layout_.flags_of(state);
  const std::uint32_t* masks = layout_.masks_of(state);
  image.registers.assign(file, file + file_bytes_);
  image.flags.assign(flags, flags + flag_bytes_);
  image.execution_mask = masks[0];
  image.parked.assign(masks + 1, masks + mask_variables_);
  image.fp_mode = state.fp_mode;
  image.barrier_signals = state.barrier_signals;
  return image;
}

Result<void> Executable::restore(const ThreadImage& image, ThreadState& state) const {
  if (image.registers.size() != file_bytes_)
    return error("thread image: expected {} bytes of registers, found {}", file_bytes_,
                 image.registers.size());
  if (image.flags.size() != flag_bytes_)
    return error("thread image: expected {} bytes of flags, found {}", flag_bytes_, image.flags.size());
  if (image.parked.size() + 1 != mask_variables_)
    return error("thread image: expected {} places of parked channels, found {}", mask_variables_ - 1,
                 image.parked.size());
  const auto block = std::find(block_ips_.begin(), block_ips_.end(), image.ip);
  if (block == block_ips_.end())
    return error("thread image: no block of the code begins at {:#x}, where the thread is", image.ip);
  state.resume = static_cast<std::uint32_t>(block - block_ips_.begin());
  std::memcpy(layout_.file_of(state), image.registers.data(), file_bytes_);
  std::memcpy(layout_.flags_of(state), image.flags.data(), flag_bytes_);
  std::uint32_t* masks = layout_.masks_of(state);
  masks[0] = image.execution_mask;
  std::copy(image.parked.begin(), image.parked.end(), masks + 1);
  state.fp_mode = image.fp_mode;
  state.barrier_signals = image.barrier_signals;
  layout_.forget_regions(state);
  state.fault = {};
  return {};
}

}  // namespace eum::jit
