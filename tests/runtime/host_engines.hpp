#pragma once
// The engines that tests can run on this host.
#include <catch2/catch.hpp>
#include <vector>

#include "jit/engine.hpp"

namespace eum::test {

/// The engines that the host can run; a warning gives the reason for each one left out.
inline std::vector<jit::EngineInfo> host_engines() {
  std::vector<jit::EngineInfo> list;
  for (const jit::EngineInfo& engine : jit::engines()) {
    if (const auto made = engine.make())
      list.push_back(engine);
    else
      WARN("not tested: " << made.error().message);
  }
  return list;
}

}  // namespace eum::test
