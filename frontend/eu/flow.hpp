#pragma once
// How instructions change the flow of channels: the rows of flow.def. It must not know how blocks are found
// (control_flow.hpp) or lowered (flow.cpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace eum::eu {

enum class FlowKind : std::uint8_t {
#define EU_FLOW(name, ...) name,
#include "frontend/eu/flow.def"
#undef EU_FLOW
};

/// Which of the active channels are parked. Taken: those that the predicate selects.
enum class Parks : std::uint8_t { None, Taken, NotTaken, All };

/// A place that control goes to or channels are parked at.
enum class Place : std::uint8_t {
  Nowhere,
  Next,  ///< the next instruction
  Self,  ///< the instruction itself
  Jip,
  Uip,
  LoopExit,  ///< after the while that UIP names, or UIP if that is none
};

struct FlowInfo {
  Parks parks;
  Place at;
  Place any;
  Place none;
  bool empty;
  bool computed;
};

inline constexpr auto flow_table = [] {
  return std::array{
#define EU_FLOW(name, parks, at, any, none, empty, computed, doc) \
  FlowInfo{Parks::parks, Place::at, Place::any, Place::none, empty, computed},
#include "frontend/eu/flow.def"
#undef EU_FLOW
  };
}();
constexpr const FlowInfo& info(FlowKind kind) { return flow_table[static_cast<std::size_t>(kind)]; }

/// Where an instruction leads: bytes from the kernel's start, possibly outside of the kernel.
struct Flow {
  FlowKind kind = FlowKind::next;
  std::int64_t jip = 0;
  std::int64_t uip = 0;
  bool absolute = false;                      ///< the register holds an address, not a distance
  std::uint8_t unit = 1;                      ///< bytes per unit of the register's value
  std::span<const std::uint32_t> table = {};  ///< of a switch: ips, owned by the program
};

}  // namespace eum::eu
