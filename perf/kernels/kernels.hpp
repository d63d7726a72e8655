// The rows of the comparison: each kernel at the size that is timed, its small case of the corpus for quick
// runs, and the loop in C++ that stands against it. Rows know nothing of who runs them.
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
  std::string small;  ///< name of the corpus' case
  /// The case to time: file, kernel, range, local size, arguments and the reference that results must equal.
  std::function<kernels::KernelCase()> make;
  native::Loop native = nullptr;  ///< null: there is none
  /// Parts of the range's last dimension that go to different threads natively begin at multiples of it.
  uint32_t grain = 1;
  /// In place of the corpus' own, which may hold for one order of a sum only.
  std::optional<kernels::Tolerance> tolerance{};

  /// The case to run, at full size or as the corpus has it.
  kernels::KernelCase kernel_case(bool quick) const;
};

/// Every row, in the order of tables.
std::vector<PerfKernel> perf_kernels();
/// Null if the corpus has none of this name.
const kernels::KernelCase* find_small(std::string_view name);

void add_given_rows(std::vector<PerfKernel>& rows);
void add_work_rows(std::vector<PerfKernel>& rows);
void add_corpus_rows(std::vector<PerfKernel>& rows);

/// The corpus' case of this name, over another range with other arguments.
kernels::KernelCase resized(std::string_view small, std::array<uint32_t, 3> global,
                            std::array<uint32_t, 3> local, std::vector<kernels::Arg> args);
/// For kernels whose work items each have their own place in each buffer: everything `times` over.
kernels::KernelCase enlarged(std::string_view small, uint32_t times);

}  // namespace eum::perf
