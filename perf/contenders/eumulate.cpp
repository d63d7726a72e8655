// A new device for each kernel, so that each is loaded and translated anew.
#include "perf/contenders/contenders.hpp"
#include "perf/record.hpp"
#include "tests/kernels/case_runner.hpp"

namespace eum::perf {
namespace {

class Eumulate final : public Contender {
 public:
  explicit Eumulate(rt::DeviceOptions options) : options_(options) {}

  std::string name() const override {
    return std::string(options_.engine == jit::EngineKind::avx512 ? kAvx512 : kEumulate);
  }
  std::string cannot(const PerfKernel&, const kernels::KernelCase&) const override { return {}; }

  Result<void> prepare(const PerfKernel&, const kernels::KernelCase& kernel_case) override {
    case_.reset();
    device_.reset();  // together with its cache of translated code
    auto device = rt::Device::create(options_);
    if (!device) return device.error();
    device_ = std::move(*device);
    auto loaded = kernels::LoadedCase::create(*device_, kernel_case, kernels::Container::PatchTokens);
    if (!loaded) return loaded.error();
    case_ = std::move(*loaded);
    return {};
  }
  double build_seconds() const override { return case_->translated().seconds(); }
  Result<void> launch() override {
    const auto report = case_->run();
    if (!report) return report.error();
    return {};
  }
  Result<std::vector<kernels::Bytes>> read() override { return case_->buffers(); }
  Result<HostCode> code() const override {
    const auto code = case_->code();
    if (!code) return code.error();
    const auto listed =
        rt::translate(*code, device_->engine(),
                      {.listing = true, .exact_registers = false, .launch = {.own_images = true}});
    if (!listed) return listed.error();
    return inspect_listing(listed->executable->listing());
  }

 private:
  rt::DeviceOptions options_;
  std::unique_ptr<rt::Device> device_;
  std::unique_ptr<kernels::LoadedCase> case_;
};

}  // namespace

Result<std::unique_ptr<Contender>> make_eumulate(unsigned workers, bool avx512) {
  const rt::DeviceOptions options{.engine = avx512 ? jit::EngineKind::avx512 : jit::EngineKind::avx2,
                                  .workers = workers,
                                  .exclusive_memory = true};
  if (auto device = rt::Device::create(options); !device) return device.error();
  return std::unique_ptr<Contender>(std::make_unique<Eumulate>(options));
}

}  // namespace eum::perf
