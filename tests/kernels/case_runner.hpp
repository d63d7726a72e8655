// Runs corpus cases on the emulator; shared by the runtime's tests, the demo and the performance comparisons.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/image/image.hpp"
#include "runtime/launch.hpp"
#include "tests/kernels/corpus.hpp"

namespace eum::kernels {

/// A case on a device: its buffers in guest memory, its kernel ready to run.
class LoadedCase {
 public:
  /// `kernel_case` and `device` must outlive the result.
  static Result<std::unique_ptr<LoadedCase>> create(rt::Device& device, const KernelCase& kernel_case,
                                                    Container container);
  /// From the binary for a device other than bxt.
  static Result<std::unique_ptr<LoadedCase>> create(rt::Device& device, const KernelCase& kernel_case,
                                                    const DeviceBinaries& binaries);
  /// From the vISA text that the compiler dumps for `device_of_text`.
  static Result<std::unique_ptr<LoadedCase>> create(rt::Device& device, const KernelCase& kernel_case,
                                                    VisaDevice device_of_text);
  /// From a program that the caller has loaded. `tiled`: with tiled images.
  static Result<std::unique_ptr<LoadedCase>> create(rt::Device& device, const KernelCase& kernel_case,
                                                    rt::Program program, bool tiled);
  ~LoadedCase();
  LoadedCase(const LoadedCase&) = delete;
  LoadedCase& operator=(const LoadedCase&) = delete;

  /// Sets every buffer to its initial bytes.
  void reset();
  /// Runs the range once more. A guest fault is an error here.
  Result<rt::LaunchReport> run();
  /// The memory of each argument, for images in the layout of Image; empty if the argument has none.
  std::vector<Bytes> buffers() const;
  /// The image of an argument; null if the argument is none.
  const rt::Image* image(size_t index) const {
    return buffers_[index].image ? &*buffers_[index].image : nullptr;
  }
  /// Empty if every buffer has the expected contents, otherwise the first difference.
  std::string verify() const;

  const rt::TranslatedKernel& translated() const { return launch_->translated(); }
  /// The commands that run() dispatches.
  Result<std::vector<rt::WalkerCommand>> commands() { return launch_->commands(); }
  /// The code that is translated.
  Result<rt::KernelCode> code() { return module_->code(*kernel_); }

 private:
  LoadedCase(rt::Device& device, const KernelCase& kernel_case) : device_(device), case_(kernel_case) {}

  struct Memory {
    rt::Buffer memory;  // size 0 if the argument has none
    std::optional<rt::Image> image;
  };

  rt::Device& device_;
  const KernelCase& case_;
  std::unique_ptr<rt::Module> module_;
  const rt::Kernel* kernel_ = nullptr;
  std::vector<Memory> buffers_;  // by argument
  std::optional<rt::Launch> launch_;
};

}  // namespace eum::kernels
