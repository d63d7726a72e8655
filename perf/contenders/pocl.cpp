// PoCL behind the contender interface.
#include "perf/pocl_contender.hpp"

#include <cstdlib>

#include "tests/kernels/opencl_runner.hpp"

namespace eum::perf {
namespace {

class PoclContender : public Contender {
 public:
  explicit PoclContender(kernels::OpenClRunner runner) : runner_(std::move(runner)) {}

  std::string name() const override { return "PoCL"; }
  Result<void> prepare(const kernels::KernelCase& kernel_case) override {
    Result<kernels::PreparedRun> run = runner_.prepare(kernel_case);
    if (!run) return run.error();
    run_ = std::move(*run);
    return {};
  }
  Result<double> launch() override { return run_.launch(); }
  Result<std::vector<kernels::Bytes>> read() override { return run_.read(); }

 private:
  kernels::OpenClRunner runner_;
  kernels::PreparedRun run_;
};

}  // namespace

Result<std::unique_ptr<Contender>> make_pocl_contender() {
  setenv("OCL_ICD_VENDORS", "pocl.icd", 0);
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
  setenv("POCL_KERNEL_CACHE", "0", 0);
  Result<kernels::OpenClRunner> runner = kernels::OpenClRunner::open("Portable Computing Language");
  if (!runner) return runner.error();
  return std::unique_ptr<Contender>(std::make_unique<PoclContender>(std::move(*runner)));
}

}  // namespace eum::perf
