#pragma once
// What code generation has to know of the function of a text.
#include <string>

#include "jit/analysis/linear.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/passes/scalar_runs.hpp"
#include "tests/jit/text_cases.hpp"

namespace eum::jit::test {

struct AnalysedText {
  AnalysedText(const std::string& text, bool exact)
      : function(function_of_text(text)), liveness(function, 32, exact) {}
  AnalysedText(const AnalysedText&) = delete;
  AnalysedText& operator=(const AnalysedText&) = delete;

  ir::Function function;
  Liveness liveness;
  LinearUses linear{function, liveness, false};
  ScalarRuns runs{function, liveness, linear, Optimisations()};
};

}  // namespace eum::jit::test
