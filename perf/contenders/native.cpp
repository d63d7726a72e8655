// The loops of perf/native. Memory is allocated as a program would: one block per buffer, aligned to cache
// lines.
#include <dlfcn.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "perf/contenders/contenders.hpp"

namespace eum::perf {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

class Native final : public Contender {
 public:
  explicit Native(unsigned workers) : workers_(workers), arena_(static_cast<int>(workers)) {}

  std::string name() const override { return "C++"; }
  std::string cannot(const PerfKernel& row, const kernels::KernelCase&) const override {
    return row.native == nullptr ? "no loop was written" : "";
  }

  Result<void> prepare(const PerfKernel& row, const kernels::KernelCase& kernel_case) override {
    row_ = &row;
    blocks_.clear();
    memory_.clear();
    values_.clear();
    for (const kernels::Arg& arg : kernel_case.args) {
      std::span<std::byte> memory;
      std::span<const std::byte> value;
      if (const auto* scalar = std::get_if<kernels::Scalar>(&arg)) value = scalar->bytes;
      if (const kernels::Buffer* buffer = kernels::memory_of(arg)) {
        const size_t size = buffer->bytes.size(), whole = (size + 63) / 64 * 64;
        blocks_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(64, whole)));
        memory = {blocks_.back().get(), size};
        std::copy(buffer->bytes.begin(), buffer->bytes.end(), memory.begin());
      }
      memory_.push_back(memory);
      values_.push_back(value);
    }
    call_ = {kernel_case.global, kernel_case.local, memory_, values_};
    units_ = kernel_case.global[kernel_case.dimensions - 1];
    return {};
  }
  double build_seconds() const override { return 0; }

  Result<void> launch() override {
    if (workers_ == 1) {
      row_->native(call_, 0, units_);
      return {};
    }
    const size_t grain = row_->grain;
    const size_t part = std::max<size_t>(1, units_ / grain / (workers_ * 8)) * grain;
    arena_.execute([&] {
      tbb::parallel_for(size_t{0}, (units_ + part - 1) / part, [&](size_t index) {
        row_->native(call_, index * part, std::min(units_, (index + 1) * part));
      });
    });
    return {};
  }

  Result<std::vector<kernels::Bytes>> read() override {
    std::vector<kernels::Bytes> buffers;
    for (const std::span<std::byte> memory : memory_) buffers.emplace_back(memory.begin(), memory.end());
    return buffers;
  }

  Result<HostCode> code() const override {
    Dl_info found{};
    if (dladdr(reinterpret_cast<const void*>(row_->native), &found) == 0 || found.dli_sname == nullptr)
      return error("{}: no symbol for the native loop", row_->name);
    return inspect_file(std::filesystem::read_symlink("/proc/self/exe").string(), found.dli_sname);
  }

 private:
  unsigned workers_;
  tbb::task_arena arena_;
  const PerfKernel* row_ = nullptr;
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
  std::vector<std::span<std::byte>> memory_;
  std::vector<std::span<const std::byte>> values_;
  native::Call call_{};
  size_t units_ = 0;
};

}  // namespace

std::unique_ptr<Contender> make_native(unsigned workers) { return std::make_unique<Native>(workers); }

}  // namespace eum::perf
