// One device for all cases; each case is loaded and translated anew.
#include "perf/eumulate_contender.hpp"

namespace eum::perf {

std::string EumulateContender::name() const { return "Eumulate"; }

Result<void> EumulateContender::prepare(const kernels::KernelCase& kernel_case) {
  case_.reset();
  auto loaded = kernels::LoadedCase::create(*device_, kernel_case, kernels::Container::PatchTokens);
  if (!loaded) return loaded.error();
  case_ = std::move(*loaded);
  return {};
}

Result<double> EumulateContender::launch() {
  const auto report = case_->run();
  if (!report) return report.error();
  return report->seconds;
}

Result<std::vector<kernels::Bytes>> EumulateContender::read() { return case_->buffers(); }

Result<std::unique_ptr<Contender>> make_eumulate_contender() {
  auto device = rt::Device::create({.engine = jit::EngineKind::avx2, .workers = 1});
  if (!device) return device.error();
  return std::unique_ptr<Contender>(std::make_unique<EumulateContender>(std::move(*device)));
}

}  // namespace eum::perf
