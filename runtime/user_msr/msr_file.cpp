// Adds registers to an MsrFile.
#include "runtime/user_msr/msr_file.hpp"

namespace eum::rt {

Result<std::uint32_t> MsrFile::add(const MsrEntry& entry, const MsrHandlers& handlers) {
  if (find(entry.address) != no_slot)
    return error("expected one register for each address, found {:#x} again ({} and {})", entry.address,
                 names_[find(entry.address)], entry.name);
  if (slots_.size() >= max_slots) return error("expected at most {} registers, found more", max_slots);
  auto index = static_cast<std::uint32_t>(slots_.size());
  MsrSlot& slot = slots_.emplace_back();
  slot.address = entry.address;
  slot.source = entry.source;
  slot.readable = entry.readable;
  slot.writable = entry.writable;
  slot.reserved = entry.reserved;
  slot.value = entry.value;
  slot.handlers = handlers;
  if (entry.source == MsrSource::File) slot.path = paths_.emplace_back(entry.path).c_str();
  name_pointers_.push_back(names_.emplace_back(entry.name).c_str());
  name_by_index_ = name_pointers_.data();
  pointers_.push_back(&slot);
  by_index_ = pointers_.data();
  if (entry.address < x86::user_msr_limit)
    low_[entry.address] = static_cast<std::uint16_t>(index);
  else
    high_.emplace(entry.address, index);
  return index;
}

Result<void> MsrFile::add_all(const MsrConfig& config) {
  for (const MsrEntry& entry : config.msrs) {
    Result<std::uint32_t> added = add(entry);
    if (!added) return added.error();
  }
  return {};
}

}  // namespace eum::rt
