#pragma once
// One model specific register behind user MSR accesses: the source of its value, and which accesses it
// permits. slot.cpp is compiled for general registers only and calls nothing outside itself except embedders'
// handlers: native stubs call it while the program's vector state is live. It must not know bitmaps,
// instructions or configuration.
#include <atomic>
#include <cstdint>

namespace eum::rt {

enum class MsrSource : std::uint8_t {
  Value,    ///< the last written value, initially the configured value
  Counter,  ///< a read returns the number of earlier reads; a write sets the count
  Tsc,      ///< the host's time stamp counter; cannot be written
  File,     ///< a text file with a number, read at each access and rewritten by writes
  Handler,  ///< an embedder's callbacks
};

/// An embedder's register. Returning false raises #GP(0). A null pointer means that the access is not
/// implemented. Called on the executing thread after every check has passed; must not throw.
struct MsrHandlers {
  void* context = nullptr;
  bool (*read)(void* context, std::uint32_t address, std::uint64_t* value) = nullptr;
  bool (*write)(void* context, std::uint32_t address, std::uint64_t value) = nullptr;
};

/// Any number of threads may access a slot at once, but a file's content is only as atomic as its file
/// system.
struct MsrSlot {
  std::uint32_t address = 0;
  MsrSource source = MsrSource::Value;
  bool readable = true;        ///< false: write-only
  bool writable = true;        ///< false: read-only
  std::uint64_t reserved = 0;  ///< bits that must be 0 in a write
  std::atomic<std::uint64_t> value = 0;
  const char* path = nullptr;  ///< for File; outlives the slot
  MsrHandlers handlers;        ///< for Handler

  bool holds_value() const { return source == MsrSource::Value || source == MsrSource::Counter; }
};

/// False: the register does not permit the access, #GP(0).
[[nodiscard]] bool read_slot(MsrSlot& slot, std::uint64_t& value);
[[nodiscard]] bool write_slot(MsrSlot& slot, std::uint64_t value);

/// Parses a number as msr files contain it: blanks, decimal digits or 0x and hexadecimal digits, blanks.
/// False if it is not a number or does not fit.
[[nodiscard]] bool parse_number(const char* text, std::uint64_t length, std::uint64_t& value);

}  // namespace eum::rt
