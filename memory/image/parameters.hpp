#pragma once
// Parameters that the lanes of a sampler message supply, by name, and where their results go. It must not
// know what the message does.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "memory/image/format.hpp"
#include "memory/image/message.hpp"

namespace eum::mem::image {

/// A copy of the parameters, because results overwrite them.
class Parameters {
 public:
  Parameters(const SampleMessage& message, const SampleCall& call) : lanes_(message.lanes) {
    const ParameterList& list = info(message.op).parameters;
    place_.fill(absent);
    for (unsigned k = 0; k < list.count && k < message.parameters; ++k)
      place_[static_cast<std::size_t>(list.list[k])] = static_cast<std::uint8_t>(k);
    std::copy_n(call.data, std::min<unsigned>(message.parameters, list.count) * lanes_, data_.begin());
  }

  bool has(Parameter parameter) const { return place_[static_cast<std::size_t>(parameter)] != absent; }
  /// 0 if the message does not give the parameter.
  std::uint32_t bits(Parameter parameter, unsigned lane) const {
    return has(parameter) ? data_[place_[static_cast<std::size_t>(parameter)] * lanes_ + lane] : 0;
  }
  float number(Parameter parameter, unsigned lane) const {
    return std::bit_cast<float>(bits(parameter, lane));
  }
  std::int32_t integer(Parameter parameter, unsigned lane) const {
    return static_cast<std::int32_t>(bits(parameter, lane));
  }

 private:
  static constexpr std::uint8_t absent = 255;
  static constexpr unsigned most_lanes = 32;

  unsigned lanes_;
  std::array<std::uint8_t, parameter_count> place_{};
  std::array<std::uint32_t, ParameterList::most * most_lanes> data_;
};

/// Writes a lane's channels: those that are not masked, in order, as 32 or 16 bits, and 0 to the remaining
/// results. With 16 bits, floats are rounded to nearest even and integers keep their low half.
class Results {
 public:
  Results(const SampleMessage& message, const SampleCall& call, bool integer)
      : message_(message), call_(call), integer_(integer) {}

  void write(unsigned lane, const Texel& channels) const;
  void clear(unsigned lane) const;
  /// Writes the dword that follows the channels, in lane 0's place.
  void write_mask() const;

 private:
  unsigned channel_results() const {
    return std::min<unsigned>(message_.results,
                              4 - static_cast<unsigned>(std::popcount(call_.control.masked_channels())));
  }

  const SampleMessage& message_;
  const SampleCall& call_;
  bool integer_;
};

}  // namespace eum::mem::image
