// The rows of unit costs: a kernel of micro.cl, the operation it repeats, and how often.
#pragma once
#include <span>
#include <string_view>

namespace eum::perf {

struct MicroRow {
  std::string_view kernel;
  std::string_view unit;  ///< what one repetition is; "" if the kernel repeats nothing
  unsigned items;         ///< work items
  unsigned repetitions;   ///< for each work item
};

std::span<const MicroRow> micro_rows();

}  // namespace eum::perf
