#pragma once
// FaultReport: what a guest did wrong, as one line and as fields, with what of the kernel and of memory makes
// it clear. It must not know how a dispatch comes to a fault.
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
  /// A thread, and where in the kernel.
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

  std::string_view kind;  ///< "out_of_bounds", "deadlock", ...: for programs, stays as it is
  std::string message;    ///< one line for a human
  std::array<std::uint32_t, 3> group{};
  std::uint32_t thread = 0;
  std::optional<std::uint32_t> ip;  ///< not of a deadlock
  std::string instruction;
  std::optional<std::uint32_t> lane;  ///< of accesses
  std::optional<std::uint64_t> address;
  std::uint32_t bytes = 0;           ///< of the access
  std::optional<NearRegion> region;  ///< of accesses by address: the region there, else the nearest below
  std::vector<Place> waiting;        ///< of a deadlock: who waits where
};

/// Where of a fault that the GuestFault does not say.
struct FaultScene {
  const mem::AddressSpace* space = nullptr;  ///< for the region, if there is one
  std::uint32_t ip = 0;                      ///< of a budget: the next instruction of the thread
  std::uint64_t budget = 0;                  ///< of a budget: how many instructions it was
};

FaultReport report(const GuestFault& fault, const KernelCode& kernel, const TranslatedKernel& translated,
                   const FaultScene& scene);

}  // namespace eum::rt
