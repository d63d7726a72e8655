#pragma once
// The instructions of the program that were met, by address and by page. Found without a lock in signal
// handlers and slow paths; entries are added and changed by one thread at a time and stay for ever. It must
// not know how sites are patched.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "frontend/x86/instruction.hpp"

namespace eum::rt::native {

enum class SiteState : std::uint8_t {
  Known,     ///< the program's bytes stand there
  Patching,  ///< is being rewritten, in either direction; its first byte may be the trap byte
  Patched,   ///< a jump to the stub stands there
  TrapOnly,  ///< is not patched any more
};

/// One instruction, without redundant prefixes before it. Only state, stub and traps change once it is
/// published.
struct Site {
  std::uint64_t address = 0;
  std::atomic<SiteState> state{SiteState::Known};
  std::uint8_t length = 0;
  x86::Instruction instruction;
  std::array<std::uint8_t, x86::max_length> original{};
  std::uint64_t stub = 0;               ///< host address, 0 = none yet
  std::atomic<std::uint32_t> traps{0};  ///< met since it was last patched, or its page was changed
  // Numbers + 1 of the next sites in lists of SiteTable.
  std::uint32_t next_of_page = 0, next_of_jump = 0;

  std::span<const std::uint8_t> bytes() const { return {original.data(), length}; }
  bool overlaps(std::uint64_t start, std::uint64_t end) const {
    return address < end && address + length > start;
  }
};

/// Hashes addresses to sites, which lie one after the other in memory of their own. An address may have many,
/// one for each instruction that stood there; one of them is current.
class SiteTable {
 public:
  static constexpr std::uint32_t capacity = 1 << 15;

  SiteTable() = default;
  ~SiteTable();
  SiteTable(const SiteTable&) = delete;
  SiteTable& operator=(const SiteTable&) = delete;
  /// Reserves address space; false if there is none.
  bool create();

  /// The current site of the address, or null.
  Site* find(std::uint64_t address) {
    std::uint32_t number = by_address_[slot_of(address)].load(std::memory_order_acquire);
    return number == 0 ? nullptr : &sites_[number - 1];
  }
  /// The site of the address with these bytes, current or not, or null.
  Site* find(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    for (std::uint32_t number = first_of_page(page_of(address)); number != 0;) {
      Site& site = sites_[number - 1];
      if (site.address == address && std::ranges::equal(site.bytes(), bytes)) return &site;
      number = site.next_of_page;
    }
    return nullptr;
  }
  /// A new entry for `address`, which becomes current; `fill` completes it before others see it. Null when
  /// the table is full.
  template <class Fill>
  Site* add(std::uint64_t address, Fill fill) {
    std::uint32_t number = count_.load(std::memory_order_relaxed);
    if (number == capacity) return nullptr;
    Site& site = sites_[number++];
    site.address = address;
    fill(site);
    std::atomic<std::uint32_t>& first = by_page_[hash(page_of(address))];
    site.next_of_page = first.load(std::memory_order_relaxed);
    first.store(number, std::memory_order_release);
    count_.store(number, std::memory_order_release);
    make_current(site);
    return &site;
  }
  void make_current(Site& site) {
    by_address_[slot_of(site.address)].store(number_of(site), std::memory_order_release);
  }
  /// Gives the site its stub.
  void set_stub(Site& site, std::uint64_t stub) {
    site.stub = stub;
    std::atomic<std::uint32_t>& first = by_jump_[hash(distance(site))];
    site.next_of_jump = first.load(std::memory_order_relaxed);
    first.store(number_of(site), std::memory_order_release);
  }
  /// Every site whose jump leads `distance` bytes from the site to its stub.
  template <class Visit>
  void each_with_jump(std::uint64_t jump_distance, Visit visit) {
    for (std::uint32_t number = by_jump_[hash(jump_distance)].load(std::memory_order_acquire); number != 0;) {
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
  /// Every site, current or not, that has a byte from `start` to before `end`.
  template <class Visit>
  void each_in(std::uint64_t start, std::uint64_t end, Visit visit) {
    if (start >= end) return;
    std::uint32_t count = count_.load(std::memory_order_acquire);
    // One that begins on the page before may reach into the first.
    std::uint64_t first = page_of(start < x86::max_length ? 0 : start - x86::max_length),
                  last = page_of(end - 1);
    if (last - first >= count) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (sites_[i].overlaps(start, end)) visit(sites_[i]);
      return;
    }
    for (std::uint64_t page = first; page <= last; ++page)
      for (std::uint32_t number = first_of_page(page); number != 0;) {
        Site& site = sites_[number - 1];
        number = site.next_of_page;
        if (page_of(site.address) == page && site.overlaps(start, end)) visit(site);
      }
  }

 private:
  static constexpr std::uint32_t slots = 2 * capacity;  // at most half full, so a search ends

  static std::uint32_t hash(std::uint64_t key) {
    return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15u >> 40) % slots;
  }
  static std::uint64_t page_of(std::uint64_t address) { return address >> 12; }
  static std::uint64_t distance(const Site& site) { return site.stub - site.address; }
  std::uint32_t number_of(const Site& site) const { return static_cast<std::uint32_t>(&site - sites_) + 1; }
  std::uint32_t first_of_page(std::uint64_t page) const {
    return by_page_[hash(page)].load(std::memory_order_acquire);
  }
  /// Where the address stands in by_address_, or would.
  std::uint32_t slot_of(std::uint64_t address) const {
    for (std::uint32_t i = hash(address);; i = (i + 1) % slots) {
      std::uint32_t number = by_address_[i].load(std::memory_order_acquire);
      if (number == 0 || sites_[number - 1].address == address) return i;
    }
  }

  // They hold site numbers + 1; 0 = free. The last two: the first of a list.
  std::atomic<std::uint32_t>* by_address_ = nullptr;
  std::atomic<std::uint32_t>* by_page_ = nullptr;
  std::atomic<std::uint32_t>* by_jump_ = nullptr;
  Site* sites_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace eum::rt::native
