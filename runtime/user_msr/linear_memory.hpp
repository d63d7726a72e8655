#pragma once
// Linear memory of the machine: an address space with present, user and writable bits for each page. It must
// not know who reads, or why.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "memory/address_space.hpp"
#include "memory/base/result.hpp"

namespace eum::rt {

struct PageAttributes {
  bool present = true;
  bool user = false;  ///< user-mode address
  bool writable = true;
  bool operator==(const PageAttributes&) const = default;
};

/// #PF: its error code and the address for CR2.
struct PageFault {
  std::uint32_t error = 0;
  std::uint64_t address = 0;
  bool operator==(const PageFault&) const = default;
};

/// Bits of the #PF error code.
inline constexpr std::uint32_t page_fault_present = 1, page_fault_write = 2, page_fault_user = 4;

/// An embedder's own MMU instead of LinearMemory. Must not throw or use the machine.
struct LinearReader {
  enum class Answer : std::uint8_t {
    Done,       ///< `byte` is set
    PageFault,  ///< #PF with the error code in `error`, which is initially 0 (not present)
    Stop,       ///< the instruction ends as Outcome::Kind::Stopped: the embedder handles the cause (such as
                ///< an EPT violation)
  };
  void* context = nullptr;
  /// Reads the byte at a linear address as an implicit supervisor access, whatever the CPL: user pages fault
  /// if CR4.SMAP is 1.
  Answer (*read)(void* context, std::uint64_t address, std::uint8_t& byte, std::uint32_t& error) = nullptr;
};

/// Any number of threads may read at once; mapping must not run concurrently with anything else.
class LinearMemory {
 public:
  static constexpr std::uint64_t page_bytes = 4096;

  /// Maps the caller's memory, which must outlive this, at `address`, in whole pages.
  Result<void> map(std::uint64_t address, std::span<std::byte> host, PageAttributes attributes);
  /// Changes the attributes of mapped pages.
  Result<void> protect(std::uint64_t address, std::uint64_t bytes, PageAttributes attributes);
  Result<void> unmap(std::uint64_t address);

  /// Reads a byte as an implicit supervisor access; with `smap`, CR4.SMAP, a user page faults whatever
  /// EFLAGS.AC says.
  std::optional<PageFault> supervisor_read(std::uint64_t address, bool smap, std::uint8_t& byte) const;

  const mem::AddressSpace& space() const { return space_; }

 private:
  struct Page {
    PageAttributes attributes;
    const std::byte* host = nullptr;
  };

  mem::AddressSpace space_;
  std::unordered_map<std::uint64_t, Page> pages_;  // by page number
};

}  // namespace eum::rt
