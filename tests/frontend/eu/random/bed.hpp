#pragma once
// Runs one program on every engine of the host in step and compares the results: registers, flags, masks,
// memory and faults. Shrinks a program that differs. Independent of how programs are generated.
#include <cstdint>
#include <functional>
#include <string>

#include "tests/frontend/eu/random/programs.hpp"

namespace eum::test {

/// How a program is translated and run; everything follows from a seed.
struct Run {
  std::uint64_t seed;
  std::int64_t budget;  ///< guest instructions in total
  bool modes = false;   ///< single program flow, alternative float mode and disabled accumulators
};

struct Outcome {
  std::string difference;          ///< of the first engine that differs from the reference engine, or empty
  std::uint64_t instructions = 0;  ///< executed by the reference engine
  std::string fault;               ///< text of the last fault, or empty
};

Outcome run(const Program& program, const Run& how);

/// The program without the elements that `fails` does not need.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace eum::test
