#pragma once
// CodeCache: translated kernels of a device, so that no code is translated twice, even if it comes from
// another module or returns to an address. It must not know modules or dispatch.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "memory/address_space.hpp"
#include "runtime/translation.hpp"

namespace eum::rt {

/// Not synchronised: one call at a time.
class CodeCache {
 public:
  /// When the kept translations have more bytes of host code than this, those that nobody holds are dropped,
  /// the least recently used first.
  explicit CodeCache(std::size_t most_code_bytes = std::size_t{256} << 20) : most_(most_code_bytes) {}

  /// The translation by `engine` of `kernel`, whose code is at `address` of `space` (null, 0: not in guest
  /// memory). Different content at the same address replaces the entry kept for it.
  Result<std::shared_ptr<const TranslatedKernel>> get(const mem::AddressSpace* space, std::uint64_t address,
                                                      const KernelCode& kernel, jit::Engine& engine,
                                                      const jit::CompileOptions& options = run_only);

  std::size_t size() const { return entries_.size(); }
  std::size_t code_bytes() const { return bytes_; }

 private:
  struct Key {
    const mem::AddressSpace* space;
    std::uint64_t address;
    std::size_t content;  // hash of the code if it is not in guest memory, else 0
    gen::Family family;
    bool text;
    unsigned simd;
    bool listing, exact_registers;
    jit::Safepoints safepoints;
    jit::LaunchFacts promised;
    jit::Optimisations optimisations;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (key.content ^ key.address * 0x9e3779b97f4a7c15u) + key.simd;
    }
  };
  struct Entry {
    std::vector<std::byte> content;
    std::shared_ptr<const TranslatedKernel> translated;
    std::uint64_t used = 0;  // last use: a count of calls
  };
  void drop(std::unordered_map<Key, Entry, Hash>::iterator entry);
  void make_room();

  std::size_t most_, bytes_ = 0;
  std::uint64_t calls_ = 0;
  std::unordered_map<Key, Entry, Hash> entries_;
};

}  // namespace eum::rt
