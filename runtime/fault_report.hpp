#pragma once
// FaultReport: what a guest did wrong, as one line and as fields, with the parts of the kernel and of memory
// that explain it. It must not know how a dispatch detects a fault.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/address_space.hpp"
#include "runtime/translation.hpp"

namespace eum::rt {

struct FaultReport {
  /// A thread, and its position in the kernel.
  struct Place {
    std::uint32_t thread = 0;  ///< in the group
    std::uint32_t ip = 0;      ///< bytes from the beginning of the kernel
    std::string instruction;
  };
  struct NearRegion {
    std::string name;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };

  std::string_view kind;  ///< "out_of_bounds", "deadlock", ...: for programs, does not change
  std::string message;    ///< one line for a human
  std::array<std::uint32_t, 3> group{};
  std::uint32_t thread = 0;
  std::optional<std::uint32_t> ip;  ///< empty for a deadlock
  std::string instruction;
  std::optional<std::uint32_t> lane;  ///< for accesses
  std::optional<std::uint64_t> address;
  std::uint32_t bytes = 0;           ///< of the access
  std::optional<NearRegion> region;  ///< for accesses by address: the region there, else the nearest below
  std::vector<Place> waiting;        ///< for a deadlock: which thread waits where
};

/// Context of a fault that GuestFault does not contain.
struct FaultScene {
  const mem::AddressSpace* space = nullptr;  ///< for the region, if there is one
  std::uint32_t ip = 0;                      ///< for Budget: the thread's next instruction
  std::uint64_t budget = 0;                  ///< for Budget: the number of instructions allowed
};

FaultReport report(const GuestFault& fault, const KernelCode& kernel, const TranslatedKernel& translated,
                   const FaultScene& scene);

}  // namespace eum::rt
