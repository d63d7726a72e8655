// Converts a case's arguments for the payload.
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

rt::SamplerValue sampler_of(const Sampler& sampler) {
  rt::SamplerValue value;
  value.filter = sampler.linear ? rt::SamplerFilter::linear : rt::SamplerFilter::nearest;
  value.normalized = sampler.normalized;
  switch (sampler.address) {
    case Address::None:
      value.address = rt::SamplerAddress::none;
      break;
    case Address::ClampToEdge:
      value.address = rt::SamplerAddress::clamp_edge;
      break;
    case Address::Clamp:
      value.address = rt::SamplerAddress::clamp_border;
      break;
    case Address::Repeat:
      value.address = rt::SamplerAddress::repeat;
      break;
    case Address::MirroredRepeat:
      value.address = rt::SamplerAddress::mirror;
      break;
  }
  return value;
}

rt::ImageType type_of(ImageDimension dimension) {
  switch (dimension) {
    case ImageDimension::D1:
      return rt::ImageType::image1d;
    case ImageDimension::D2:
      return rt::ImageType::image2d;
    case ImageDimension::D3:
      return rt::ImageType::image3d;
    case ImageDimension::Array1D:
      return rt::ImageType::image1d_array;
    case ImageDimension::Array2D:
      return rt::ImageType::image2d_array;
    case ImageDimension::Buffer:
      return rt::ImageType::image1d_buffer;
  }
  return rt::ImageType::image2d;
}

Result<rt::ImageDescription> description_of(const Image& image, bool tiled) {
  for (const rt::ImageFormat& format : rt::image_formats()) {
    if (rt::info(format.order).number != image.order || rt::info(format.type).number != image.type) continue;
    rt::ImageDescription description;
    description.type = type_of(image.dimension);
    description.width = image.width;
    description.height = image.height;
    (rt::info(description.type).array ? description.array_size : description.depth) = image.depth;
    description.mip_levels = image.levels;
    description.order = format.order;
    description.data_type = format.type;
    // Kernels cannot observe the tiling.
    if (tiled) description.tiling = mem::image::TileMode::YMAJOR;
    return description;
  }
  return error("no image has order {:#x} and type {:#x}", image.order, image.type);
}

/// The program in the binary that `form` selects.
template <class Form>
Result<rt::Program> program_of(const KernelCase& kernel_case, const Form& form) {
  const KernelFile* file = find_kernel_file(kernel_case.file);
  if (!file) return error("{}: no manifest row {}", kernel_case.name, kernel_case.file);
  const auto binary = read_binary(binary_path(*file, form));
  if (!binary) return binary.error();
  auto program = rt::load_program(*binary);
  if (!program) return error("{}: {}", kernel_case.name, program.error().message);
  return program;
}

}  // namespace

Result<std::unique_ptr<LoadedCase>> LoadedCase::create(rt::Device& device, const KernelCase& kernel_case,
                                                       Container container) {
  auto program = program_of(kernel_case, container);
  if (!program) return program.error();
  return create(device, kernel_case, std::move(*program), container == Container::Zebin);
}

Result<std::unique_ptr<LoadedCase>> LoadedCase::create(rt::Device& device, const KernelCase& kernel_case,
                                                       const DeviceBinaries& binaries) {
  auto program = program_of(kernel_case, binaries);
  if (!program) return program.error();
  return create(device, kernel_case, std::move(*program), false);
}

Result<std::unique_ptr<LoadedCase>> LoadedCase::create(rt::Device& device, const KernelCase& kernel_case,
                                                       VisaDevice device_of_text) {
  const KernelFile* file = find_kernel_file(kernel_case.file);
  if (!file) return error("{}: no manifest row {}", kernel_case.name, kernel_case.file);
  const std::string path = visa_path(*file, kernel_case.kernel, device_of_text),
                    map_path = visa_map_path(*file, device_of_text);
  const auto text = read_binary(path), map = read_binary(map_path);
  if (!text) return text.error();
  if (!map) return map.error();
  const rt::NamedFile named{path, *text};
  auto program = rt::load_visa({&named, 1}, {map_path, *map});
  if (!program) return error("{}: {}", kernel_case.name, program.error().message);
  return create(device, kernel_case, std::move(*program), true);
}

Result<std::unique_ptr<LoadedCase>> LoadedCase::create(rt::Device& device, const KernelCase& kernel_case,
                                                       rt::Program program, bool tiled) {
  std::unique_ptr<LoadedCase> loaded(new LoadedCase(device, kernel_case));
  auto module = rt::Module::create(device, std::move(program));
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
    } else if (const auto* sampler = std::get_if<Sampler>(&arg)) {
      values.emplace_back(sampler_of(*sampler));
    } else if (const auto* picture = std::get_if<Image>(&arg)) {
      const auto description = description_of(*picture, tiled);
      if (!description) return error("{}: {}", kernel_case.name, description.error().message);
      const auto image = rt::make_image(device, *description, "argument");
      if (!image) return error("{}: {}", kernel_case.name, image.error().message);
      loaded->buffers_.back().memory = image->memory;
      loaded->buffers_.back().image = *image;
      if (image->packed_bytes() != picture->bytes.size())
        return error("{}: expected an image of {} bytes, found {}", kernel_case.name, image->packed_bytes(),
                     picture->bytes.size());
      values.emplace_back(image->value());
    } else {
      const auto buffer = device.allocate(std::get<Buffer>(arg).bytes.size(), "argument");
      if (!buffer) return error("{}: {}", kernel_case.name, buffer.error().message);
      loaded->buffers_.back().memory = *buffer;
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
  for (const Memory& memory : buffers_)
    if (memory.memory.size != 0) device_.release(memory.memory);
}

void LoadedCase::reset() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer* buffer = memory_of(case_.args[i]);
    if (buffer == nullptr) continue;
    if (buffers_[i].image)
      buffers_[i].image->upload(buffer->bytes);
    else
      std::copy(buffer->bytes.begin(), buffer->bytes.end(), buffers_[i].memory.host);
  }
}

Result<rt::LaunchReport> LoadedCase::run() {
  auto report = launch_->run();
  if (!report) return error("{}: {}", case_.name, report.error().message);
  if (report->fault) return error("{}: {}", case_.name, report->fault->message);
  return report;
}

std::vector<Bytes> LoadedCase::buffers() const {
  std::vector<Bytes> result;
  for (const Memory& memory : buffers_) {
    Bytes& bytes = result.emplace_back();
    if (memory.image) {
      bytes.resize(memory.image->packed_bytes());
      memory.image->download(bytes);
    } else {
      bytes.assign(memory.memory.host, memory.memory.host + memory.memory.size);
    }
  }
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
