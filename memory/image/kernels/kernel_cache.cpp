#include "memory/image/kernels/kernel_cache.hpp"

#include <sys/mman.h>
#include <xbyak/xbyak_util.h>

#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "memory/image/kernels/sample_emitter.hpp"
#include "memory/image/kernels/typed_emitter.hpp"
#include "memory/image/layout.hpp"
#include "memory/surface.hpp"

namespace eum::mem::image {

namespace {

constexpr std::size_t page = 4096, most_code = 32 * page;
/// Limit of each table's entries, including those without a kernel.
constexpr std::size_t most_entries = 4 * KernelCache::most_kernels;

/// Pages that are writable until they are sealed for execution.
class CodePages {
 public:
  CodePages() {
    void* pages = mmap(nullptr, most_code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) pages_ = pages;
  }
  ~CodePages() {
    if (pages_ != nullptr) munmap(pages_, most_code);
  }
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(pages_); }
  /// Hands over the pages that hold the first `used` bytes, executable and no longer writable; null if the
  /// host refuses.
  void* seal(std::size_t& used) {
    used = (used + page - 1) / page * page;
    if (mprotect(pages_, used, PROT_READ | PROT_EXEC) != 0) return nullptr;
    if (used < most_code) munmap(data() + used, most_code - used);
    return std::exchange(pages_, nullptr);
  }

 private:
  void* pages_ = nullptr;
};

bool host_has_avx2() {
  using Xbyak::util::Cpu;
  // Determined once: in a virtual machine each CPUID exits to the hypervisor.
  static const bool has = [] {
    const Cpu cpu;
    return cpu.has(Cpu::tAVX2) && cpu.has(Cpu::tFMA) && cpu.has(Cpu::tF16C);
  }();
  return has;
}

struct SampleKey {
  SampleMessage message;
  SurfaceState surface;
  SamplerState sampler;
  std::uint32_t control = 0;

  bool operator==(const SampleKey&) const = default;
};
struct TypedKey {
  TypedMessage message;
  SurfaceState surface;

  bool operator==(const TypedKey&) const = default;
};

/// Hashes only what differs between images of one program; equality compares the rest.
struct KeyHash {
  static std::size_t mix(std::initializer_list<std::uint64_t> values) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::uint64_t v : values) hash = (hash ^ v) * 0x9e3779b97f4a7c15 ^ hash >> 29;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
  static std::size_t surface(const SurfaceState& s) {
    return mix({static_cast<std::uint64_t>(s.type), static_cast<std::uint64_t>(s.tiling), s.format, s.width,
                s.height, s.depth, s.pitch, s.qpitch});
  }
  std::size_t operator()(const SampleKey& key) const {
    return mix({surface(key.surface), static_cast<std::uint64_t>(key.message.op), key.message.lanes,
                key.message.parameters, key.message.results,
                static_cast<std::uint64_t>(key.sampler.mag_filter),
                static_cast<std::uint64_t>(key.sampler.address[0]), key.sampler.non_normalized, key.control});
  }
  std::size_t operator()(const TypedKey& key) const {
    return mix({surface(key.surface), static_cast<std::uint64_t>(key.message.kind), key.message.lanes,
                key.message.coordinates, key.message.components});
  }
};

/// What is known about a key: its kernel, or that it has none.
template <class Key, class Call>
struct Entry {
  Key key;
  std::unique_ptr<Kernel<Call>> kernel;
};
template <class Key, class Call>
using Table = std::unordered_map<Key, std::unique_ptr<const Entry<Key, Call>>, KeyHash>;

/// The kernel of an entry, if the surface of the call has the memory for it.
template <class Key, class Call>
const Kernel<Call>* usable_kernel(const Entry<Key, Call>* entry, const Surface& surface) {
  if (entry == nullptr || entry->kernel == nullptr || surface.base == nullptr) return nullptr;
  return surface.size >= entry->kernel->surface_bytes() ? entry->kernel.get() : nullptr;
}

}  // namespace

template <class Call>
Kernel<Call>::~Kernel() {
  munmap(pages_, size_);
}
template class Kernel<SampleCall>;
template class Kernel<TypedCall>;

struct KernelCache::State {
  mutable std::shared_mutex mutex;
  Table<SampleKey, SampleCall> sample;
  Table<TypedKey, TypedCall> typed;
  std::size_t made = 0;
  const bool usable = host_has_avx2();

  /// The entry of `key`. If there is none yet, `emit` writes the code into the given pages and returns its
  /// size, or 0 for no kernel. Null if there are too many entries.
  template <class Key, class Call, class Emit>
  const Entry<Key, Call>* find(Table<Key, Call>& table, const Key& key, const Emit& emit) {
    {
      const std::shared_lock lock(mutex);
      const auto found = table.find(key);
      if (found != table.end()) return found->second.get();
    }
    const std::unique_lock lock(mutex);
    try {
      if (const auto found = table.find(key); found != table.end()) return found->second.get();
      if (table.size() >= most_entries) return nullptr;
      auto entry = std::make_unique<Entry<Key, Call>>(Entry<Key, Call>{key, nullptr});
      if (usable && made < most_kernels) make(*entry, emit);
      return table.emplace(key, std::move(entry)).first->second.get();
    } catch (const std::exception&) {  // no memory, or the code does not fit: the definition is used
      return nullptr;
    }
  }

  const Entry<SampleKey, SampleCall>* find(const SampleMessage& message, const SurfaceState& surface,
                                           const SamplerState& sampler, SampleControl control) {
    const SampleKey key{message, surface, info(message.op).has(sample_flag::Texel) ? SamplerState{} : sampler,
                        control.bits};
    return find(sample, key, [](const SampleKey& k, std::byte* pages, std::size_t size) {
      const SampleControl bits{k.control};
      const auto plan = kernels::plan_sample(k.message, k.surface, k.sampler, bits);
      if (!plan) return std::size_t{0};
      const kernels::SampleEmitter code(pages, size, k.message, k.surface, k.sampler, bits, *plan);
      return code.getSize();
    });
  }

  const Entry<TypedKey, TypedCall>* find(const TypedMessage& message, const SurfaceState& surface) {
    return find(typed, TypedKey{message, surface}, [](const TypedKey& k, std::byte* pages, std::size_t size) {
      if (!kernels::has_kernel(k.message, k.surface)) return std::size_t{0};
      const kernels::TypedEmitter code(pages, size, k.message, k.surface);
      return code.getSize();
    });
  }

 private:
  template <class Key, class Call, class Emit>
  void make(Entry<Key, Call>& entry, const Emit& emit) {
    CodePages pages;
    std::size_t used = pages.data() == nullptr ? 0 : emit(entry.key, pages.data(), most_code);
    void* code = used == 0 ? nullptr : pages.seal(used);
    if (code == nullptr) return;
    entry.kernel.reset(new (std::nothrow) Kernel<Call>(code, used, surface_bytes(entry.key.surface)));
    if (entry.kernel == nullptr)
      munmap(code, used);
    else
      ++made;
  }
};

KernelCache::KernelCache() : state_(std::make_unique<State>()) {}
KernelCache::~KernelCache() = default;

const SampleKernel* KernelCache::find(const SampleMessage& message, const SurfaceState& surface,
                                      const SamplerState& sampler, SampleControl control) {
  const auto* entry = state_->find(message, surface, sampler, control);
  return entry == nullptr ? nullptr : entry->kernel.get();
}

const TypedKernel* KernelCache::find(const TypedMessage& message, const SurfaceState& surface) {
  const auto* entry = state_->find(message, surface);
  return entry == nullptr ? nullptr : entry->kernel.get();
}

ImageFault KernelCache::run(const SampleMessage& message, const SampleCall& call, KernelSite& site) {
  static constexpr SamplerState no_sampler{};
  const bool filters = !info(message.op).has(sample_flag::Texel);
  if (filters && call.sampler == nullptr) return image::sample(message, call);
  const SamplerState& sampler = filters ? *call.sampler : no_sampler;
  auto* entry = static_cast<const Entry<SampleKey, SampleCall>*>(site.last_.load(std::memory_order_acquire));
  if (entry == nullptr || entry->key.control != call.control.bits || entry->key.sampler != sampler ||
      entry->key.surface != call.surface->image) {
    entry = state_->find(message, call.surface->image, sampler, call.control);
    site.last_.store(entry, std::memory_order_release);
  }
  const SampleKernel* kernel = usable_kernel(entry, *call.surface);
  if (kernel == nullptr) return image::sample(message, call);
  kernel->run(call);
  return {};
}

ImageFault KernelCache::run(const TypedMessage& message, const TypedCall& call, KernelSite& site) {
  auto* entry = static_cast<const Entry<TypedKey, TypedCall>*>(site.last_.load(std::memory_order_acquire));
  if (entry == nullptr || entry->key.surface != call.surface->image) {
    entry = state_->find(message, call.surface->image);
    site.last_.store(entry, std::memory_order_release);
  }
  const TypedKernel* kernel = usable_kernel(entry, *call.surface);
  if (kernel == nullptr) return typed_access(message, call);
  kernel->run(call);
  return {};
}

std::size_t KernelCache::size() const {
  const std::shared_lock lock(state_->mutex);
  return state_->made;
}

}  // namespace eum::mem::image
