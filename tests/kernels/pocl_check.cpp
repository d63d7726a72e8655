// Runs every corpus case on PoCL from source and compares with the corpus' own references, for which it is
// the external oracle. Exits with 1 if a case differs; cases that the manifest excuses are printed with the
// reason and not run. Usage: pocl_check [PART-OF-CASE-NAME...], or pocl_check --matrix for each image format
// with each sampler.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "tests/kernels/opencl_runner.hpp"

using namespace eum;
using namespace eum::kernels;

namespace {

bool has_image(const KernelCase& kernel_case) {
  return std::any_of(kernel_case.args.begin(), kernel_case.args.end(),
                     [](const Arg& arg) { return std::holds_alternative<Image>(arg); });
}

/// Empty if the case runs and every buffer is correct.
std::string failure(OpenClRunner& runner, KernelCase kernel_case) {
  // PoCL multiplies normalised integers by a rounded reciprocal.
  if (has_image(kernel_case)) kernel_case.tolerance.ulp = std::max(kernel_case.tolerance.ulp, 2.0);
  Result<PreparedRun> run = runner.prepare(kernel_case);
  if (!run) return run.error().message;
  if (Result<double> seconds = run->launch(); !seconds) return seconds.error().message;
  const Result<std::vector<Bytes>> got = run->read();
  if (!got) return got.error().message;
  const std::vector<Bytes> expected = expected_buffers(kernel_case);
  for (size_t i = 0; i < kernel_case.args.size(); i++) {
    if (!kernel_case.check(i)) continue;
    if (std::string message = compare(kernel_case, i, (*got)[i], expected); !message.empty()) return message;
  }
  return {};
}

bool is_matrix(int count, char** parts) { return count == 2 && std::string_view(parts[1]) == "--matrix"; }

bool chosen(const KernelCase& kernel_case, int count, char** parts) {
  if (count < 2 || is_matrix(count, parts)) return true;
  for (int i = 1; i < count; i++)
    if (kernel_case.name.find(parts[i]) != std::string::npos) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("OCL_ICD_VENDORS", "pocl.icd", 0);
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
  Result<OpenClRunner> runner = OpenClRunner::open("Portable Computing Language");
  if (!runner) {
    fmt::print("{}\n", runner.error().message);
    return 1;
  }
  fmt::print("{}\n", runner->description());
  int passed = 0, failed = 0, excused = 0;
  for (const KernelCase& kernel_case : is_matrix(argc, argv) ? image_matrix() : corpus()) {
    if (!chosen(kernel_case, argc, argv)) continue;
    const KernelFile* file = find_kernel_file(kernel_case.file);
    const std::string_view reason =
        file && !file->pocl_reason.empty() ? file->pocl_reason : kernel_case.pocl_reason;
    if (!reason.empty()) {
      excused++;
      fmt::print("not on PoCL: {}: {}\n", kernel_case.name, reason);
      continue;
    }
    if (!runner->has_formats(kernel_case)) {
      excused++;
      fmt::print("not on PoCL: {}: an image format that it lacks\n", kernel_case.name);
      continue;
    }
    const std::string message = failure(*runner, kernel_case);
    if (message.empty()) {
      passed++;
    } else {
      failed++;
      fmt::print("FAILED {}\n", message);
    }
    std::fflush(stdout);
  }
  fmt::print("{} passed, {} failed, {} not possible on PoCL\n", passed, failed, excused);
  return failed == 0 && passed + excused > 0 ? 0 : 1;
}
