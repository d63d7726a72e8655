#include "runtime/code_cache.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace eum::rt {

Result<std::shared_ptr<const TranslatedKernel>> CodeCache::get(const mem::AddressSpace* space,
                                                               std::uint64_t address,
                                                               const KernelCode& kernel, jit::Engine& engine,
                                                               const jit::CompileOptions& options) {
  const std::string_view content(reinterpret_cast<const char*>(kernel.bytes.data()), kernel.bytes.size());
  const Key key{space,
                address,
                space == nullptr ? std::hash<std::string_view>()(content) : 0,
                kernel.family,
                kernel.text.module != nullptr,
                kernel.simd,
                options.listing,
                options.exact_registers,
                options.safepoints,
                options.promised(),
                options.optimisations};
  ++calls_;
  if (const auto found = entries_.find(key); found != entries_.end()) {
    Entry& entry = found->second;
    if (std::ranges::equal(entry.content, kernel.bytes)) {
      entry.used = calls_;
      return entry.translated;
    }
    drop(found);
  }
  auto translated = translate(kernel, engine, options);
  if (!translated) return translated.error();
  Entry entry{{kernel.bytes.begin(), kernel.bytes.end()},
              std::make_shared<const TranslatedKernel>(std::move(*translated)),
              calls_};
  const auto result = entry.translated;
  bytes_ += result->executable->code_bytes();
  entries_.emplace(key, std::move(entry));
  make_room();
  return result;
}

void CodeCache::drop(std::unordered_map<Key, Entry, Hash>::iterator entry) {
  bytes_ -= entry->second.translated->executable->code_bytes();
  entries_.erase(entry);
}

void CodeCache::make_room() {
  while (bytes_ > most_) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->second.translated.use_count() == 1 &&
          (oldest == entries_.end() || entry->second.used < oldest->second.used))
        oldest = entry;
    if (oldest == entries_.end()) return;
    drop(oldest);
  }
}

}  // namespace eum::rt
