#pragma once
// ConstantPool: vectors of constants stored beside the code, each once.
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eum::jit::codegen {

class ConstantPool {
 public:
  static constexpr std::size_t entry_bytes = 32;
  using Entry = std::array<std::uint8_t, entry_bytes>;

  /// Offset of the entry in the pool.
  std::int32_t add(const Entry& entry) {
    const auto next = static_cast<std::int32_t>(entries_.size() * entry_bytes);
    const auto [known, added] = offsets_.try_emplace(entry, next);
    if (added) entries_.push_back(entry);
    return known->second;
  }
  /// `bits` of `bytes` (1, 2, 4, 8) width in every lane.
  std::int32_t add_splat(std::uint64_t bits, unsigned bytes) { return add(splat(bits, bytes)); }
  static Entry splat(std::uint64_t bits, unsigned bytes) {
    Entry entry;
    for (unsigned i = 0; i < entry_bytes; i += bytes) std::memcpy(entry.data() + i, &bits, bytes);
    return entry;
  }
  /// value(i) in dword i.
  template <class Value>
  static Entry dwords(Value value) {
    Entry entry;
    for (std::uint32_t i = 0; i < entry_bytes / 4; ++i) {
      const std::uint32_t bits = value(i);
      std::memcpy(entry.data() + i * 4, &bits, 4);
    }
    return entry;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  struct Hash {
    std::size_t operator()(const Entry& entry) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(entry.data()), entry.size()});
    }
  };
  std::vector<Entry> entries_;
  std::unordered_map<Entry, std::int32_t, Hash> offsets_;
};

}  // namespace eum::jit::codegen
