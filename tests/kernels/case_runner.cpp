// A case's arguments as the payload takes them.
#include "tests/kernels/case_runner.hpp"

#include <algorithm>
#include <fstream>

#include "runtime/loader/loader.hpp"

namespace eum::kernels {
namespace {

Result<Bytes> read_binary(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return error("{}: cannot be opened", path);
  Bytes bytes(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) return error("{}: cannot be read", path);
  return bytes;
}

rt::NdRange range_of(const KernelCase& c, const rt::Program& program) {
  rt::NdRange range;
  range.dims = c.dimensions;
  range.global = c.global;
  range.local = c.local;
  range.offset = c.offset;
  range.allow_remainder = program.allows_remainder();
  return range;
}

}  // namespace

Result<std::unique_ptr<LoadedCase>> LoadedCase::create(rt::Device& device, const KernelCase& kernel_case,
                                                       Container container) {
  const KernelFile* file = find_kernel_file(kernel_case.file);
  if (!file) return error("{}: no manifest row {}", kernel_case.name, kernel_case.file);
  const auto binary = read_binary(binary_path(*file, container));
  if (!binary) return binary.error();
  auto program = rt::load_program(*binary);
  if (!program) return error("{}: {}", kernel_case.name, program.error().message);

  std::unique_ptr<LoadedCase> loaded(new LoadedCase(device, kernel_case));
  auto module = rt::Module::create(device, std::move(*program));
  if (!module) return error("{}: {}", kernel_case.name, module.error().message);
  loaded->module_ = std::move(*module);
  const auto kernel = loaded->module_->find(kernel_case.kernel);
  if (!kernel) return error("{}: {}", kernel_case.name, kernel.error().message);
  loaded->kernel_ = *kernel;

  std::vector<rt::ArgumentValue> values;
  for (const Arg& arg : kernel_case.args) {
    loaded->buffers_.emplace_back();
    if (const auto* scalar = std::get_if<Scalar>(&arg)) {
      values.emplace_back(scalar->bytes);
    } else if (const auto* local = std::get_if<LocalMemory>(&arg)) {
      values.emplace_back(rt::LocalValue{local->size});
    } else {
      const auto buffer = device.allocate(std::get<Buffer>(arg).bytes.size(), "argument");
      if (!buffer) return error("{}: {}", kernel_case.name, buffer.error().message);
      loaded->buffers_.back() = *buffer;
      values.emplace_back(rt::BufferValue{buffer->surface()});
    }
  }
  loaded->reset();
  auto launch = rt::Launch::prepare(*loaded->module_, **kernel, values,
                                    range_of(kernel_case, loaded->module_->program()));
  if (!launch) return error("{}: {}", kernel_case.name, launch.error().message);
  loaded->launch_.emplace(std::move(*launch));
  return loaded;
}

LoadedCase::~LoadedCase() {
  for (const rt::Buffer& buffer : buffers_)
    if (buffer.size != 0) device_.release(buffer);
}

void LoadedCase::reset() {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (const auto* buffer = std::get_if<Buffer>(&case_.args[i]))
      std::copy(buffer->bytes.begin(), buffer->bytes.end(), buffers_[i].host);
}

Result<rt::LaunchReport> LoadedCase::run() {
  auto report = launch_->run();
  if (!report) return error("{}: {}", case_.name, report.error().message);
  if (report->fault) return error("{}: {}", case_.name, report->fault->message);
  return report;
}

std::vector<Bytes> LoadedCase::buffers() const {
  std::vector<Bytes> result;
  for (const rt::Buffer& buffer : buffers_) result.emplace_back(buffer.host, buffer.host + buffer.size);
  return result;
}

std::string LoadedCase::verify() const {
  const std::vector<Bytes> got = buffers(), expected = expected_buffers(case_);
  for (size_t i = 0; i < got.size(); ++i) {
    if (!case_.check(i)) continue;
    if (std::string difference = compare(case_, i, got[i], expected); !difference.empty()) return difference;
  }
  return {};
}

}  // namespace eum::kernels
