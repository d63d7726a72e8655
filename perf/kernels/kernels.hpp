// The rows of the comparison: each kernel at the size that is timed, its small corpus case for quick runs,
// and the C++ loop it is compared with. Independent of the contenders.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/native/native.hpp"
#include "tests/kernels/case_parts.hpp"

namespace eum::perf {

struct PerfKernel {
  std::string name;
  std::string small;  ///< name of the corpus case
  /// Makes the case to time: file, kernel, range, local size, arguments and the reference for the results.
  std::function<kernels::KernelCase()> make;
  native::Loop native = nullptr;  ///< null if there is none
  /// Native threads split the range's last dimension at multiples of this.
  uint32_t grain = 1;
  /// Replaces the corpus case's own, which may hold for one summation order only.
  std::optional<kernels::Tolerance> tolerance{};

  /// The case to run, at full size or, if `quick`, the corpus case.
  kernels::KernelCase kernel_case(bool quick) const;
};

/// Every row, in the order of tables.
std::vector<PerfKernel> perf_kernels();
/// The corpus case with this name, or null.
const kernels::KernelCase* find_small(std::string_view name);

void add_given_rows(std::vector<PerfKernel>& rows);
void add_work_rows(std::vector<PerfKernel>& rows);
void add_corpus_rows(std::vector<PerfKernel>& rows);

/// The corpus case with this name, over another range and with other arguments.
kernels::KernelCase resized(std::string_view small, std::array<uint32_t, 3> global,
                            std::array<uint32_t, 3> local, std::vector<kernels::Arg> args);
/// For kernels whose work items each have their own part of every buffer: everything repeated `times` times.
kernels::KernelCase enlarged(std::string_view small, uint32_t times);

}  // namespace eum::perf
