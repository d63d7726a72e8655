#pragma once
// The instructions of the program that were encountered, by address and by page. Lookups take no lock and are
// used in signal handlers and slow paths; entries are added and changed by one thread at a time and are never
// removed. It must not know how sites are patched.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "frontend/x86/instruction.hpp"

namespace eum::rt::native {

enum class SiteState : std::uint8_t {
  Known,     ///< memory has the program's bytes
  Patching,  ///< being rewritten, in either direction; the first byte may be the trap byte
  Patched,   ///< memory has a jump to the stub
  TrapOnly,  ///< no longer patched
};

/// One instruction, without redundant prefixes before it. Once it is published, only state, stub and traps
/// change.
struct Site {
  std::uint64_t address = 0;
  std::atomic<SiteState> state{SiteState::Known};
  std::uint8_t length = 0;
  x86::Instruction instruction;
  std::array<std::uint8_t, x86::max_length> original{};
  std::uint64_t stub = 0;               ///< host address, 0: none yet
  std::atomic<std::uint32_t> traps{0};  ///< traps since it was last patched, or its page was changed
  std::uint64_t rewrite = 0;            ///< number of the last rewrite that included it
  // Numbers + 1 of the next sites in the lists of SiteTable.
  std::uint32_t next_of_address = 0, next_of_page = 0, next_of_jump = 0;

  std::span<const std::uint8_t> bytes() const { return {original.data(), length}; }
  bool overlaps(std::uint64_t start, std::uint64_t end) const {
    return address < end && address + length > start;
  }
};

/// Sites are stored one after the other in dedicated memory. An address may have several, one for each
/// instruction that was encountered there.
class SiteTable {
 public:
  static constexpr std::uint32_t capacity = 1 << 15;

  SiteTable() = default;
  ~SiteTable();
  SiteTable(const SiteTable&) = delete;
  SiteTable& operator=(const SiteTable&) = delete;
  /// Reserves address space; false if there is none.
  bool create();

  /// The newest site at the address for which `wanted` is true, or null.
  template <class Wanted>
  Site* find(std::uint64_t address, Wanted wanted) {
    for (std::uint32_t number = first_of(by_address_, address); number != 0;) {
      Site& site = sites_[number - 1];
      if (site.address == address && wanted(site)) return &site;
      number = site.next_of_address;
    }
    return nullptr;
  }
  /// Adds an entry for `address`; `fill` completes it before others see it. Null if the table is full.
  template <class Fill>
  Site* add(std::uint64_t address, Fill fill) {
    std::uint32_t number = count_.load(std::memory_order_relaxed);
    if (number == capacity) return nullptr;
    Site& site = sites_[number++];
    site.address = address;
    fill(site);
    push(by_address_, address, number, site.next_of_address);
    push(by_page_, page_of(address), number, site.next_of_page);
    count_.store(number, std::memory_order_release);
    return &site;
  }
  /// Assigns the site its stub.
  void set_stub(Site& site, std::uint64_t stub) {
    site.stub = stub;
    has_jumps_.store(true, std::memory_order_release);
    push(by_jump_, distance(site), static_cast<std::uint32_t>(&site - sites_) + 1, site.next_of_jump);
  }
  bool has_jumps() const { return has_jumps_.load(std::memory_order_acquire); }
  /// Visits every site whose jump leads `jump_distance` bytes from the site to its stub.
  template <class Visit>
  void each_with_jump(std::uint64_t jump_distance, Visit visit) {
    for (std::uint32_t number = first_of(by_jump_, jump_distance); number != 0;) {
      Site& site = sites_[number - 1];
      number = site.next_of_jump;
      if (distance(site) == jump_distance) visit(site);
    }
  }
  template <class Visit>
  void each(Visit visit) {
    std::uint32_t count = count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) visit(sites_[i]);
  }
  /// Visits every site that has a byte from `start` up to `end`.
  template <class Visit>
  void each_in(std::uint64_t start, std::uint64_t end, Visit visit) {
    if (start >= end) return;
    std::uint32_t count = count_.load(std::memory_order_acquire);
    // A site that begins on the page before may extend into the first page.
    std::uint64_t first = page_of(start < x86::max_length ? 0 : start - x86::max_length),
                  last = page_of(end - 1);
    if (last - first >= count) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (sites_[i].overlaps(start, end)) visit(sites_[i]);
      return;
    }
    for (std::uint64_t page = first; page <= last; ++page)
      for (std::uint32_t number = first_of(by_page_, page); number != 0;) {
        Site& site = sites_[number - 1];
        number = site.next_of_page;
        if (page_of(site.address) == page && site.overlaps(start, end)) visit(site);
      }
  }

 private:
  // Each holds the numbers + 1 of the first sites of lists, by a hash of their key; 0: none.
  using Heads = std::atomic<std::uint32_t>*;
  static constexpr std::uint32_t heads = 2 * capacity;

  static std::uint32_t hash(std::uint64_t key) {
    return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15u >> 40) % heads;
  }
  static std::uint64_t page_of(std::uint64_t address) { return address >> 12; }
  static std::uint64_t distance(const Site& site) { return site.stub - site.address; }
  static std::uint32_t first_of(Heads lists, std::uint64_t key) {
    return lists[hash(key)].load(std::memory_order_acquire);
  }
  static void push(Heads lists, std::uint64_t key, std::uint32_t number, std::uint32_t& next) {
    std::atomic<std::uint32_t>& first = lists[hash(key)];
    next = first.load(std::memory_order_relaxed);
    first.store(number, std::memory_order_release);
  }

  Heads by_address_ = nullptr, by_page_ = nullptr, by_jump_ = nullptr;
  Site* sites_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<bool> has_jumps_{false};
};

}  // namespace eum::rt::native
