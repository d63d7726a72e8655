// The installed PoCL. It leaves compiled kernels in its cache as shared objects, which are inspected.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "perf/contenders/contenders.hpp"
#include "tests/kernels/opencl_runner.hpp"

namespace eum::perf {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed when the program ends.
class CacheFolder {
 public:
  CacheFolder() {
    std::string name = (fs::temp_directory_path() / "eumulate_pocl_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  CacheFolder(CacheFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~CacheFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Pocl final : public Contender {
 public:
  Pocl(kernels::OpenClRunner runner, CacheFolder cache)
      : cache_(std::move(cache)), runner_(std::move(runner)) {}

  std::string name() const override { return "PoCL"; }

  std::string cannot(const PerfKernel&, const kernels::KernelCase& kernel_case) const override {
    const kernels::KernelFile* file = kernels::find_kernel_file(kernel_case.file);
    if (!file->pocl_reason.empty()) return std::string(file->pocl_reason);
    if (!runner_.has_formats(kernel_case)) return "an image format that it lacks";
    return std::string(kernel_case.pocl_reason);
  }

  Result<void> prepare(const PerfKernel&, const kernels::KernelCase& kernel_case) override {
    kernel_ = kernel_case.kernel;
    const auto start = std::chrono::steady_clock::now();
    if (Result<void> built = runner_.build(kernel_case.file); !built) return built.error();
    build_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Result<kernels::PreparedRun> run = runner_.prepare(kernel_case);
    if (!run) return run.error();
    run_ = std::move(*run);
    return {};
  }
  double build_seconds() const override { return build_seconds_; }

  Result<void> launch() override {
    const Result<double> seconds = run_.launch();
    if (!seconds) return seconds.error();
    return {};
  }
  Result<std::vector<kernels::Bytes>> read() override { return run_.read(); }

  /// Inspects the newest object with the kernel's name: the one compiled in this kernel's first launch.
  Result<HostCode> code() const override {
    std::optional<fs::directory_entry> newest;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cache_.path()))
      if (entry.path().filename() == kernel_ + ".so" &&
          (!newest || entry.last_write_time() > newest->last_write_time()))
        newest = entry;
    if (!newest) return error("PoCL: no {}.so in {}", kernel_, cache_.path().string());
    return inspect_file(newest->path().string(), "");
  }

 private:
  CacheFolder cache_;
  kernels::OpenClRunner runner_;
  kernels::PreparedRun run_;
  std::string kernel_;
  double build_seconds_ = 0;
};

}  // namespace

Result<std::unique_ptr<Contender>> make_pocl(unsigned workers) {
  CacheFolder cache;
  if (cache.path().empty()) return error("cannot make a folder in {}", fs::temp_directory_path().string());
  setenv("OCL_ICD_VENDORS", "pocl.icd", 0);
  setenv("POCL_CACHE_DIR", cache.path().c_str(), 1);
  setenv("POCL_MAX_PTHREAD_COUNT", fmt::format("{}", workers).c_str(), 1);
  Result<kernels::OpenClRunner> runner = kernels::OpenClRunner::open("Portable Computing Language");
  if (!runner) return runner.error();
  return std::unique_ptr<Contender>(std::make_unique<Pocl>(std::move(*runner), std::move(cache)));
}

}  // namespace eum::perf
