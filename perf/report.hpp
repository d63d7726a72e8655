// The results of a comparison for human readers: a table in Markdown, and a page for a browser.
#pragma once
#include <span>
#include <string>

#include "perf/record.hpp"

namespace eum::perf {

/// A table with kernels in the order of their ratio of Eumulate to PoCL, the worst first.
std::string markdown(const Record& record);

/// A self-contained page with tables and bar charts.
std::string html(std::span<const Record> records);

}  // namespace eum::perf
