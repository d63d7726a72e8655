#pragma once
// How a filter combines texels: axis by axis, x first, and between levels. It must not know where texels come
// from.
#include <array>
#include <cmath>
#include <cstdint>

#include "memory/image/coordinate.hpp"
#include "memory/image/texel_fetch.hpp"

namespace eum::mem::image {

enum class Combine : std::uint8_t { Weighted, Minimum, Maximum };

/// Combines a and b; `weight` is that of b, 0 to 256 in steps of 1/256. Weighted: fma(weight, b - a, a).
/// Minimum and maximum ignore a value whose weight is 0.
inline FilterValue combine(Combine how, const FilterValue& a, const FilterValue& b, std::uint32_t weight) {
  FilterValue result;
  const float w = static_cast<float>(weight) / 256;
  for (unsigned c = 0; c < 4; ++c) {
    if (how == Combine::Weighted)
      result[c] = std::fma(w, b[c] - a[c], a[c]);
    else if (weight == 0)
      result[c] = a[c];
    else if (weight == 256)
      result[c] = b[c];
    else
      result[c] = (how == Combine::Minimum ? b[c] < a[c] : b[c] > a[c]) ? b[c] : a[c];
  }
  return result;
}

/// Visits the first texel, or both, of each axis up to `axes`. `fetch` takes the indices and fills in a
/// value; if it returns false, so does this. All texels are fetched, even those with weight 0.
template <class Fetch>
bool filter_axes(unsigned axes, const std::array<Tap, 3>& taps, Combine how,
                 std::array<std::int32_t, 3>& index, const Fetch& fetch, FilterValue& value) {
  if (axes == 0) return fetch(index, value);
  const Tap& tap = taps[axes - 1];
  index[axes - 1] = tap.index;
  if (!filter_axes(axes - 1, taps, how, index, fetch, value)) return false;
  if (!tap.linear) return true;
  FilterValue second;
  index[axes - 1] = tap.index + 1;
  if (!filter_axes(axes - 1, taps, how, index, fetch, second)) return false;
  value = combine(how, value, second, tap.weight);
  return true;
}

}  // namespace eum::mem::image
