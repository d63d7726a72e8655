#pragma once
// The final report of `eumulate run`, as text or as JSON. It must not change anything except standard output.
#include <vector>

#include "runtime/cli/run/session.hpp"

namespace eum::cli {

/// A compared request of --expect.
struct Expectation {
  const OutputRequest* request = nullptr;
  Comparison comparison;
};

/// Prints the elements that a --print request asks for.
void print_values(const OutputRequest& request);
void print_text(Session& session);
void print_json(Session& session, const std::vector<Expectation>& expectations);

}  // namespace eum::cli
