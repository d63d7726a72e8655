// The OpenCL host API behind opencl_runner.hpp.
#define CL_TARGET_OPENCL_VERSION 300
#include "tests/kernels/opencl_runner.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <type_traits>

namespace eum::kernels {
namespace {

struct Release {
  void operator()(cl_context handle) const { clReleaseContext(handle); }
  void operator()(cl_command_queue handle) const { clReleaseCommandQueue(handle); }
  void operator()(cl_program handle) const { clReleaseProgram(handle); }
  void operator()(cl_kernel handle) const { clReleaseKernel(handle); }
  void operator()(cl_mem handle) const { clReleaseMemObject(handle); }
  void operator()(cl_sampler handle) const { clReleaseSampler(handle); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

std::string platform_name(cl_platform_id platform) {
  size_t size = 0;
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size);
  std::string name(size, '\0');
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, name.data(), nullptr);
  return name.c_str();
}

std::string device_name(cl_device_id device) {
  size_t size = 0;
  clGetDeviceInfo(device, CL_DEVICE_NAME, 0, nullptr, &size);
  std::string name(size, '\0');
  clGetDeviceInfo(device, CL_DEVICE_NAME, size, name.data(), nullptr);
  return name.c_str();
}

/// The manifest's options without those that only the vendor's compiler supports.
std::string portable_options(std::string_view options) {
  std::istringstream words{std::string(options)};
  std::string word, result;
  while (words >> word)
    if (!word.starts_with("-cl-intel-")) result += word + " ";
  return result;
}

cl_addressing_mode addressing_mode(Address address) {
  switch (address) {
    case Address::None:
      return CL_ADDRESS_NONE;
    case Address::ClampToEdge:
      return CL_ADDRESS_CLAMP_TO_EDGE;
    case Address::Clamp:
      return CL_ADDRESS_CLAMP;
    case Address::Repeat:
      return CL_ADDRESS_REPEAT;
    case Address::MirroredRepeat:
      return CL_ADDRESS_MIRRORED_REPEAT;
  }
  return CL_ADDRESS_NONE;
}

std::array<size_t, 3> region_of(const Image& image) {
  if (image.dimension == ImageDimension::Array1D) return {image.width, image.depth, 1};
  return {image.width, image.height, image.depth};
}

}  // namespace

struct OpenClRunner::State {
  std::string name;
  cl_device_id device = nullptr;
  Owned<cl_context> context;
  Owned<cl_command_queue> queue;
  std::map<std::string, Owned<cl_program>, std::less<>> programs;  // by manifest stem

  Result<cl_program> program(const KernelFile& file);
};

struct PreparedRun::State {
  const KernelCase* kernel_case = nullptr;
  cl_command_queue queue = nullptr;  // the runner's
  Owned<cl_kernel> kernel;
  std::vector<Owned<cl_mem>> memory;   // by argument; null if it has none
  std::vector<Owned<cl_mem>> beneath;  // buffers underlying images
  std::vector<Owned<cl_sampler>> samplers;
};

Result<cl_program> OpenClRunner::State::program(const KernelFile& file) {
  if (const auto found = programs.find(file.stem); found != programs.end()) return found->second.get();
  std::ifstream stream(source_path(file));
  if (!stream) return error("{}: cannot be read", source_path(file));
  std::ostringstream content;
  content << stream.rdbuf();
  const std::string text = content.str();
  const char* data = text.data();
  const size_t size = text.size();
  cl_int status = CL_SUCCESS;
  Owned<cl_program> program(clCreateProgramWithSource(context.get(), 1, &data, &size, &status));
  if (status == CL_SUCCESS)
    status =
        clBuildProgram(program.get(), 1, &device, portable_options(file.options).c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) {
    std::string log(20000, '\0');
    if (program)
      clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    return error("{}: does not build on {}: OpenCL error {}\n{}", file.stem, name, status, log.c_str());
  }
  return (programs[std::string(file.stem)] = std::move(program)).get();
}

OpenClRunner::OpenClRunner() = default;
OpenClRunner::OpenClRunner(OpenClRunner&&) noexcept = default;
OpenClRunner& OpenClRunner::operator=(OpenClRunner&&) noexcept = default;
OpenClRunner::~OpenClRunner() = default;

std::string OpenClRunner::description() const { return state_->name; }

Result<OpenClRunner> OpenClRunner::open(std::string_view platform) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count) clGetPlatformIDs(count, platforms.data(), nullptr);
  std::string seen;
  for (cl_platform_id candidate : platforms) {
    const std::string name = platform_name(candidate);
    seen += " '" + name + "'";
    if (name.find(platform) == std::string::npos) continue;
    auto state = std::make_unique<State>();
    cl_int status = clGetDeviceIDs(candidate, CL_DEVICE_TYPE_ALL, 1, &state->device, nullptr);
    if (status != CL_SUCCESS) return error("{}: has no device: OpenCL error {}", name, status);
    state->name = name + ", " + device_name(state->device);
    state->context.reset(clCreateContext(nullptr, 1, &state->device, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) return error("{}: no context: OpenCL error {}", state->name, status);
    state->queue.reset(
        clCreateCommandQueueWithProperties(state->context.get(), state->device, nullptr, &status));
    if (status != CL_SUCCESS) return error("{}: no queue: OpenCL error {}", state->name, status);
    OpenClRunner runner;
    runner.state_ = std::move(state);
    return runner;
  }
  return error("expected an OpenCL platform named '{}', found{}", platform, seen.empty() ? " none" : seen);
}

bool OpenClRunner::has_formats(const KernelCase& kernel_case) const {
  std::vector<cl_image_format> formats;
  cl_uint count = 0;
  clGetSupportedImageFormats(state_->context.get(), CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, nullptr,
                             &count);
  formats.resize(count);
  clGetSupportedImageFormats(state_->context.get(), CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, count,
                             formats.data(), nullptr);
  for (const Arg& arg : kernel_case.args) {
    const auto* image = std::get_if<Image>(&arg);
    if (image == nullptr) continue;
    const bool found = std::any_of(formats.begin(), formats.end(), [&](const cl_image_format& format) {
      return format.image_channel_order == image->order && format.image_channel_data_type == image->type;
    });
    if (!found) return false;
  }
  return true;
}

Result<void> OpenClRunner::build(std::string_view stem) {
  const KernelFile* file = find_kernel_file(stem);
  if (!file) return error("no row '{}' in the manifest", stem);
  if (Result<cl_program> program = state_->program(*file); !program) return program.error();
  return {};
}

Result<PreparedRun> OpenClRunner::prepare(const KernelCase& kernel_case) {
  const KernelFile* file = find_kernel_file(kernel_case.file);
  if (!file) return error("{}: no row '{}' in the manifest", kernel_case.name, kernel_case.file);
  Result<cl_program> program = state_->program(*file);
  if (!program) return program.error();

  auto state = std::make_unique<PreparedRun::State>();
  state->kernel_case = &kernel_case;
  state->queue = state_->queue.get();
  cl_int status = CL_SUCCESS;
  state->kernel.reset(clCreateKernel(*program, kernel_case.kernel.c_str(), &status));
  if (status != CL_SUCCESS)
    return error("{}: no kernel '{}': OpenCL error {}", kernel_case.name, kernel_case.kernel, status);
  state->memory.resize(kernel_case.args.size());
  for (cl_uint i = 0; i < kernel_case.args.size(); i++) {
    const Arg& arg = kernel_case.args[i];
    if (const auto* value = std::get_if<Scalar>(&arg)) {
      status = clSetKernelArg(state->kernel.get(), i, value->bytes.size(), value->bytes.data());
    } else if (const auto* local = std::get_if<LocalMemory>(&arg)) {
      status = clSetKernelArg(state->kernel.get(), i, local->size, nullptr);
    } else if (const auto* sampler = std::get_if<Sampler>(&arg)) {
      const cl_sampler_properties normalized = sampler->normalized ? CL_TRUE : CL_FALSE;
      const cl_sampler_properties filter = sampler->linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST;
      const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                                  normalized,
                                                  CL_SAMPLER_ADDRESSING_MODE,
                                                  addressing_mode(sampler->address),
                                                  CL_SAMPLER_FILTER_MODE,
                                                  filter,
                                                  0};
      Owned<cl_sampler>& made = state->samplers.emplace_back(
          clCreateSamplerWithProperties(state_->context.get(), properties, &status));
      if (status != CL_SUCCESS)
        return error("{}: argument {}: no sampler: OpenCL error {}", kernel_case.name, i, status);
      const cl_sampler handle = made.get();
      status = clSetKernelArg(state->kernel.get(), i, sizeof handle, &handle);
    } else if (const auto* image = std::get_if<Image>(&arg)) {
      cl_mem_object_type type = 0;
      const cl_image_format format{image->order, image->type};
      cl_image_desc description{};
      description.image_width = image->width;
      description.image_height = image->height;
      switch (image->dimension) {
        case ImageDimension::D1:
          type = CL_MEM_OBJECT_IMAGE1D;
          break;
        case ImageDimension::D2:
          type = CL_MEM_OBJECT_IMAGE2D;
          break;
        case ImageDimension::D3:
          type = CL_MEM_OBJECT_IMAGE3D;
          description.image_depth = image->depth;
          break;
        case ImageDimension::Array1D:
          type = CL_MEM_OBJECT_IMAGE1D_ARRAY;
          description.image_array_size = image->depth;
          break;
        case ImageDimension::Array2D:
          type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
          description.image_array_size = image->depth;
          break;
        case ImageDimension::Buffer:
          type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
          state->beneath.emplace_back(clCreateBuffer(state_->context.get(), CL_MEM_READ_WRITE,
                                                     image->bytes.size(), nullptr, &status));
          if (status != CL_SUCCESS)
            return error("{}: argument {}: no buffer: OpenCL error {}", kernel_case.name, i, status);
          description.buffer = state->beneath.back().get();
          break;
      }
      description.image_type = type;
      state->memory[i].reset(
          clCreateImage(state_->context.get(), CL_MEM_READ_WRITE, &format, &description, nullptr, &status));
      if (status != CL_SUCCESS)
        return error("{}: argument {}: no image of {}x{}: OpenCL error {}", kernel_case.name, i, image->width,
                     image->height, status);
      const cl_mem handle = state->memory[i].get();
      status = clSetKernelArg(state->kernel.get(), i, sizeof handle, &handle);
    } else {
      const size_t size = std::get<Buffer>(arg).bytes.size();
      state->memory[i].reset(
          clCreateBuffer(state_->context.get(), CL_MEM_READ_WRITE, size, nullptr, &status));
      if (status != CL_SUCCESS)
        return error("{}: argument {}: no buffer of {} bytes: OpenCL error {}", kernel_case.name, i, size,
                     status);
      const cl_mem handle = state->memory[i].get();
      status = clSetKernelArg(state->kernel.get(), i, sizeof handle, &handle);
    }
    if (status != CL_SUCCESS) return error("{}: argument {}: OpenCL error {}", kernel_case.name, i, status);
  }
  PreparedRun run;
  run.state_ = std::move(state);
  if (Result<void> done = run.reset(); !done) return done.error();
  return run;
}

PreparedRun::PreparedRun() = default;
PreparedRun::PreparedRun(PreparedRun&&) noexcept = default;
PreparedRun& PreparedRun::operator=(PreparedRun&&) noexcept = default;
PreparedRun::~PreparedRun() = default;

Result<void> PreparedRun::reset() {
  for (size_t i = 0; i < state_->memory.size(); i++) {
    if (!state_->memory[i]) continue;
    const Arg& arg = state_->kernel_case->args[i];
    const Bytes& bytes = memory_of(arg)->bytes;
    const std::array<size_t, 3> origin{};
    const auto* image = std::get_if<Image>(&arg);
    const cl_int status =
        image != nullptr
            ? clEnqueueWriteImage(state_->queue, state_->memory[i].get(), CL_TRUE, origin.data(),
                                  region_of(*image).data(), 0, 0, bytes.data(), 0, nullptr, nullptr)
            : clEnqueueWriteBuffer(state_->queue, state_->memory[i].get(), CL_TRUE, 0, bytes.size(),
                                   bytes.data(), 0, nullptr, nullptr);
    if (status != CL_SUCCESS)
      return error("{}: argument {}: write: OpenCL error {}", state_->kernel_case->name, i, status);
  }
  return {};
}

Result<double> PreparedRun::launch() {
  const KernelCase& kernel_case = *state_->kernel_case;
  const auto sizes = [](const std::array<uint32_t, 3>& from) {
    return std::array<size_t, 3>{from[0], from[1], from[2]};
  };
  const auto offset = sizes(kernel_case.offset), global = sizes(kernel_case.global),
             local = sizes(kernel_case.local);
  const auto start = std::chrono::steady_clock::now();
  cl_int status =
      clEnqueueNDRangeKernel(state_->queue, state_->kernel.get(), kernel_case.dimensions, offset.data(),
                             global.data(), local[0] ? local.data() : nullptr, 0, nullptr, nullptr);
  if (status == CL_SUCCESS) status = clFinish(state_->queue);
  if (status != CL_SUCCESS) return error("{}: launch: OpenCL error {}", kernel_case.name, status);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<std::vector<Bytes>> PreparedRun::read() {
  std::vector<Bytes> buffers = initial_buffers(*state_->kernel_case);
  for (size_t i = 0; i < buffers.size(); i++) {
    if (!state_->memory[i]) continue;
    const std::array<size_t, 3> origin{};
    const auto* image = std::get_if<Image>(&state_->kernel_case->args[i]);
    const cl_int status =
        image != nullptr
            ? clEnqueueReadImage(state_->queue, state_->memory[i].get(), CL_TRUE, origin.data(),
                                 region_of(*image).data(), 0, 0, buffers[i].data(), 0, nullptr, nullptr)
            : clEnqueueReadBuffer(state_->queue, state_->memory[i].get(), CL_TRUE, 0, buffers[i].size(),
                                  buffers[i].data(), 0, nullptr, nullptr);
    if (status != CL_SUCCESS)
      return error("{}: argument {}: read: OpenCL error {}", state_->kernel_case->name, i, status);
  }
  return buffers;
}

}  // namespace eum::kernels
