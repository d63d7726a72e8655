#pragma once
// MsrFile: the registers of a machine, found by address. User MSR addresses (0 to 3FFFH) take one table
// lookup without calls, as native stubs use it. It must not know instructions or their checks.
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "memory/base/result.hpp"
#include "runtime/user_msr/config.hpp"
#include "runtime/user_msr/slot.hpp"

namespace eum::rt {

/// Any number of threads may read and write slots at once; adding must not run concurrently with anything
/// else.
class MsrFile {
 public:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  static constexpr std::uint32_t max_slots = 0xffff;

  MsrFile() { low_.fill(no_low); }
  MsrFile(const MsrFile&) = delete;
  MsrFile& operator=(const MsrFile&) = delete;

  /// Adds a register and returns its slot number. Source Handler takes `handlers`.
  Result<std::uint32_t> add(const MsrEntry& entry, const MsrHandlers& handlers = {});
  Result<void> add_all(const MsrConfig& config);

  /// Slot number of an address, or no_slot.
  std::uint32_t find(std::uint32_t address) const {
    if (address < x86::user_msr_limit) return low_[address] == no_low ? no_slot : low_[address];
    auto found = high_.find(address);
    return found == high_.end() ? no_slot : found->second;
  }
  /// The same for address < 4000H, always inlined; null if there is no register.
  MsrSlot* find_user(std::uint32_t address) const {
    std::uint16_t index = low_[address];
    return index == no_low ? nullptr : by_index_[index];
  }
  MsrSlot& slot(std::uint32_t index) { return slots_[index]; }
  const MsrSlot& slot(std::uint32_t index) const { return slots_[index]; }
  const std::string& name(std::uint32_t index) const { return names_[index]; }
  /// Name of a user MSR, or null if there is none.
  const char* user_name(std::uint32_t address) const {
    if (address >= x86::user_msr_limit || low_[address] == no_low) return nullptr;
    return name_by_index_[low_[address]];
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }

 private:
  static constexpr std::uint16_t no_low = 0xffff;

  std::array<std::uint16_t, x86::user_msr_limit> low_;
  MsrSlot** by_index_ = nullptr;  // data of pointers_
  std::vector<MsrSlot*> pointers_;
  const char** name_by_index_ = nullptr;  // data of name_pointers_
  std::vector<const char*> name_pointers_;
  std::deque<MsrSlot> slots_;  // a deque: addresses do not change
  std::deque<std::string> names_;
  std::deque<std::string> paths_;
  std::unordered_map<std::uint32_t, std::uint32_t> high_;
};

}  // namespace eum::rt
