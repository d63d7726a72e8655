#pragma once
// The instructions of the program that were met, by address. Found without a lock in signal handlers and slow
// paths; entries are added and changed by one thread at a time. It must not know how sites are patched.
#include <array>
#include <atomic>
#include <cstdint>

#include "frontend/x86/instruction.hpp"

namespace eum::rt::native {

enum class SiteState : std::uint8_t {
  Known,     ///< the program's bytes stand there
  Patching,  ///< its first byte is the trap byte; threads that meet it take the trap path
  Patched,   ///< a jump to the stub stands there
  TrapOnly,  ///< is not patched any more
};

/// One instruction, without segment prefixes before it. Only state, stub and counts change once it is
/// published.
struct Site {
  std::uint64_t address = 0;
  std::atomic<SiteState> state{SiteState::Known};
  std::uint8_t length = 0;
  x86::Instruction instruction;
  std::array<std::uint8_t, x86::max_length> original{};
  std::uint64_t stub = 0;     ///< host address, 0 = none yet
  std::uint32_t traps = 0;    ///< met while it was not patched
  std::uint32_t patches = 0;  ///< how often it was patched
};

/// Hashes addresses to sites, which lie one after the other in memory of their own. Entries are never
/// removed.
class SiteTable {
 public:
  static constexpr std::uint32_t capacity = 1 << 15;

  SiteTable() = default;
  ~SiteTable();
  SiteTable(const SiteTable&) = delete;
  SiteTable& operator=(const SiteTable&) = delete;
  /// Reserves address space; false if there is none.
  bool create();

  Site* find(std::uint64_t address) {
    for (std::uint32_t i = hash(address);; i = (i + 1) % slots) {
      std::uint32_t number = index_[i].load(std::memory_order_acquire);
      if (number == 0) return nullptr;
      if (sites_[number - 1].address == address) return &sites_[number - 1];
    }
  }
  /// A new entry for `address`; `fill` completes it before others see it. It takes the place of an older
  /// entry, which stays valid for those who hold it. Null when the table is full.
  template <class Fill>
  Site* add(std::uint64_t address, Fill fill) {
    if (count_ == capacity) return nullptr;
    Site& site = sites_[count_++];
    site.address = address;
    fill(site);
    std::uint32_t i = hash(address);
    for (; std::uint32_t number = index_[i].load(std::memory_order_relaxed); i = (i + 1) % slots)
      if (sites_[number - 1].address == address) break;
    index_[i].store(count_, std::memory_order_release);
    return &site;
  }
  template <class Visit>
  void each(Visit visit) {
    for (std::uint32_t i = 0; i < count_; ++i) visit(sites_[i]);
  }

 private:
  static constexpr std::uint32_t slots = 2 * capacity;  // at most half full, so a search ends
  static std::uint32_t hash(std::uint64_t address) {
    return static_cast<std::uint32_t>(address * 0x9e3779b97f4a7c15u >> 40) % slots;
  }
  std::atomic<std::uint32_t>* index_ = nullptr;  // site number + 1; 0 = free
  Site* sites_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace eum::rt::native
