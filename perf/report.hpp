// What a comparison has found, for people: a table in markdown, and a page for a browser.
#pragma once
#include <span>
#include <string>

#include "perf/record.hpp"

namespace eum::perf {

/// Kernels in the order of their ratio of Eumulate to PoCL, the worst first.
std::string markdown(const Record& record);

/// One page with tables and bars, which needs nothing but itself.
std::string html(std::span<const Record> records);

}  // namespace eum::perf
