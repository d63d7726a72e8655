#pragma once
// What `eumulate run` says in the end, as text or as JSON. It must not change anything but the standard
// output.
#include <vector>

#include "runtime/cli/run/session.hpp"

namespace eum::cli {

/// A request of --expect that was compared.
struct Expectation {
  const OutputRequest* request = nullptr;
  Comparison comparison;
};

/// The elements that a request of --print asks for.
void print_values(const OutputRequest& request);
void print_text(Session& session);
void print_json(Session& session, const std::vector<Expectation>& expectations);

}  // namespace eum::cli
