#pragma once
// What a front end provides for lowering: the instructions of one kernel by ip, and texts for traps.
#include <cstdint>
#include <string>

#include "frontend/eu/instruction.hpp"
#include "memory/base/result.hpp"

namespace eum::eu {

class Program {
 public:
  virtual ~Program() = default;

  /// Upper bound (exclusive) of ips.
  virtual std::uint32_t bytes() const = 0;
  /// The instruction at `ip`, or why there is none.
  virtual Result<Instruction> fetch(std::uint32_t ip) const = 0;
  /// The message at `ip` with the known values of its descriptors, if fetch() says that these are in
  /// registers.
  virtual Result<Instruction> with_descriptors(std::uint32_t ip,
                                               const std::array<std::uint32_t, 2>& values) const {
    return error("the message at byte {} has its descriptors, {:#x} and {:#x}, in itself", ip, values[0],
                 values[1]);
  }
  /// Text of an instruction that fetch() has returned.
  virtual std::string text(std::uint32_t ip) const = 0;
  /// Why the front end refuses the instruction at `ip`, which has no handler.
  virtual std::string refusal(std::uint32_t ip) const = 0;
  /// Bytes from `ip` to the next place where an instruction may begin, whatever is at `ip`.
  virtual std::uint32_t step(std::uint32_t ip) const = 0;

  /// Instructions begin at multiples of this.
  static constexpr std::uint32_t unit_bytes = 8;
};

}  // namespace eum::eu
