#pragma once
// Limits of one translation, so that hostile code cannot exhaust the host's memory and time: one for each row
// of limits.def. This file must not know who translates.
#include <cstdint>
#include <span>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::jit {

struct Limits {
#define LIMIT(name, value, doc) std::uint64_t name = value;
#include "jit/limits.def"
#undef LIMIT
};

struct LimitInfo {
  std::string_view name;  ///< as in messages and on the command line
  std::string_view doc;
  std::uint64_t Limits::*value;
};

inline constexpr LimitInfo limit_table[] = {
#define LIMIT(name, value, doc) {#name, doc, &Limits::name},
#include "jit/limits.def"
#undef LIMIT
};

enum class Limit : std::uint8_t {
#define LIMIT(name, value, doc) name,
#include "jit/limits.def"
#undef LIMIT
};

constexpr const LimitInfo& info(Limit limit) { return limit_table[static_cast<std::size_t>(limit)]; }

/// An error if `found` is beyond the limit: "k: limit blocks: expected at most 10 basic blocks, found 11".
inline Result<void> check(Limit limit, const Limits& limits, std::string_view what, std::uint64_t found) {
  const std::uint64_t most = limits.*info(limit).value;
  if (found <= most) return {};
  return error("{}: limit {}: expected at most {} {}, found {}", what, info(limit).name, most,
               info(limit).doc, found);
}

}  // namespace eum::jit
