// Corpus cases on the emulator, on one core.
#pragma once
#include <memory>

#include "perf/contender.hpp"
#include "tests/kernels/case_runner.hpp"

namespace eum::perf {

class EumulateContender final : public Contender {
 public:
  explicit EumulateContender(std::unique_ptr<rt::Device> device) : device_(std::move(device)) {}

  std::string name() const override;
  Result<void> prepare(const kernels::KernelCase& kernel_case) override;
  Result<double> launch() override;
  Result<std::vector<kernels::Bytes>> read() override;

 private:
  std::unique_ptr<rt::Device> device_;
  std::unique_ptr<kernels::LoadedCase> case_;
};

/// With the AVX2 engine and one worker.
Result<std::unique_ptr<Contender>> make_eumulate_contender();

}  // namespace eum::perf
