#pragma once
// Runs one program on every engine of the host in step and compares what they leave: registers, flags, masks,
// memory and faults. Makes a program that differs smaller. It must not know how programs come about.
#include <cstdint>
#include <functional>
#include <string>

#include "tests/frontend/eu/random/programs.hpp"

namespace eum::test {

/// How a program is translated and run; everything follows from a seed.
struct Run {
  std::uint64_t seed;
  std::int64_t budget;  ///< of guest instructions in all
  bool modes = false;   ///< single program flow, the alternative mode of floats and disabled accumulators
};

struct Outcome {
  std::string difference;          ///< of the first engine that differs from the reference engine, or empty
  std::uint64_t instructions = 0;  ///< guest instructions that the reference engine has executed
  std::string fault;               ///< the last one in words, or empty
};

Outcome run(const Program& program, const Run& how);

/// The program without what `fails` does not need.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace eum::test
