#pragma once
// Module: a program on a device: its constants and globals in guest memory, its kernels translated on demand.
// It must not know arguments or ranges.
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/device.hpp"
#include "runtime/payload.hpp"
#include "runtime/program.hpp"
#include "runtime/relocate.hpp"
#include "runtime/translation.hpp"

namespace eum::rt {

class Module {
 public:
  /// Places `program` on `device`, which must outlive the module.
  static Result<std::unique_ptr<Module>> create(Device& device, Program program);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const Program& program() const { return program_; }
  Device& device() { return device_; }

  /// The kernel with this name; the error lists the kernels that exist.
  Result<const Kernel*> find(std::string_view name) const;

  /// Translated once per device, for walks that satisfy these facts; the result lives as long as the module.
  /// `kernel` is one of program().
  Result<const TranslatedKernel*> translated(const Kernel& kernel, const jit::LaunchFacts& launch = {});

  /// The input of translate() and of the functions that print code.
  Result<KernelCode> code(const Kernel& kernel);

  /// Constants and globals, for build_payload().
  const ImplicitBuffers& segments() const { return implicit_; }

 private:
  struct Entry {
    std::vector<std::byte> code;                                      // KernelCode::bytes
    std::vector<std::shared_ptr<const TranslatedKernel>> translated;  // by the facts that they rely on
  };

  Module(Device& device, Program program);
  Result<void> place_segments();
  Entry& entry(const Kernel& kernel);
  KernelCode text_code(const Kernel& kernel, Entry& entry);

  Device& device_;
  Program program_;
  SegmentAddresses addresses_;
  std::vector<Buffer> buffers_;
  ImplicitBuffers implicit_;
  std::vector<Entry> entries_;  // by kernel
  visa::Symbols symbols_;       // for vISA text
};

}  // namespace eum::rt
