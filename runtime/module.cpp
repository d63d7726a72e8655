// Segments are placed first, since the code and the segments themselves contain their addresses.
#include "runtime/module.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "frontend/visa/kernel.hpp"
#include "memory/base/within_host.hpp"

namespace eum::rt {

Module::Module(Device& device, Program program)
    : device_(device), program_(std::move(program)), entries_(program_.kernels.size()) {}

Module::~Module() {
  for (const Buffer& buffer : buffers_) device_.release(buffer);
}

Result<std::unique_ptr<Module>> Module::create(Device& device, Program program) {
  return within_host("module", [&]() -> Result<std::unique_ptr<Module>> {
    std::unique_ptr<Module> module(new Module(device, std::move(program)));
    if (auto placed = module->place_segments(); !placed) return placed.error();
    return module;
  });
}

Result<void> Module::place_segments() {
  std::array<Buffer, segment_count> placed;
  for (std::size_t i = 0; i < segment_count; ++i) {
    const SegmentData& data = program_.segments[i];
    if (data.size() == 0) continue;
    const auto segment = static_cast<Segment>(i);
    if (const std::uint64_t most = device_.options().most_segment_bytes; data.size() > most)
      return error("{}: limit segment: expected at most {} bytes, found {}", segment_name(segment), most,
                   data.size());
    auto buffer = device_.allocate(data.size(), segment_name(segment));
    if (!buffer) return buffer.error();
    buffers_.push_back(*buffer);
    placed[i] = *buffer;
    addresses_[segment] = buffer->address;
  }
  for (std::size_t i = 0; i < segment_count; ++i) {
    if (placed[i].size == 0) continue;
    const auto bytes = relocated_bytes(program_.segments[i], addresses_);
    if (!bytes) return bytes.error();
    std::copy(bytes->begin(), bytes->end(), placed[i].host);  // the rest is zero as allocated
  }
  const auto surface = [&](Segment segment) {
    const Buffer& b = placed[static_cast<std::size_t>(segment)];
    return b.size == 0 ? mem::Surface{} : mem::buffer_surface(b.host, b.size, b.address);
  };
  symbols_ = symbol_addresses(program_, addresses_);
  implicit_.constants = surface(Segment::Constants);
  implicit_.globals = surface(Segment::Globals);
  return {};
}

Result<const Kernel*> Module::find(std::string_view name) const {
  if (const Kernel* kernel = program_.find(name)) return kernel;
  return Error{no_such_kernel(program_, name)};
}

Module::Entry& Module::entry(const Kernel& kernel) {
  return entries_[static_cast<std::size_t>(&kernel - program_.kernels.data())];
}

Result<KernelCode> Module::code(const Kernel& kernel) {
  return within_host(kernel.name, [&]() -> Result<KernelCode> {
    Entry& e = entry(kernel);
    if (kernel.text.file) return text_code(kernel, e);
    if (e.code.empty()) {
      auto bytes = relocated_code(kernel, addresses_);
      if (!bytes) return bytes.error();
      e.code = std::move(*bytes);
    }
    return KernelCode{kernel.name, e.code, program_.family, kernel.simd_size};
  });
}

KernelCode Module::text_code(const Kernel& kernel, Entry& e) {
  const KernelText& text = kernel.text;
  if (e.code.empty()) {
    const auto add = [&e](const auto& values) {
      const auto bytes = std::as_bytes(std::span(values));
      e.code.insert(e.code.end(), bytes.begin(), bytes.end());
    };
    add(text.file->source);
    add(std::array{text.kernel, text.grf_bytes});
    for (const auto& [name, address] : symbols_) {
      add(name);
      add(std::array{address});
    }
  }
  KernelCode code{kernel.name, e.code, program_.family, kernel.simd_size};
  code.text = {text.file->module.get(), text.kernel, text.grf_bytes, &symbols_};
  return code;
}

Result<const TranslatedKernel*> Module::translated(const Kernel& kernel, const jit::LaunchFacts& launch) {
  return within_host(kernel.name, [&]() -> Result<const TranslatedKernel*> {
    Entry& e = entry(kernel);
    jit::CompileOptions options = run_only;
    options.limits = device_.options().limits;
    options.optimisations = device_.options().optimisations;
    options.safepoints = device_.options().safepoints;
    options.exact_registers = device_.options().exact_registers;
    options.listing = device_.options().listing;
    const auto source = code(kernel);
    if (!source) return source.error();
    options.launch = launch;
    for (const auto& translated : e.translated)
      if (translated->code.promised == options.promised()) return translated.get();
    auto translated = device_.code_cache().get(nullptr, 0, *source, device_.engine(), options);
    if (!translated) return translated.error();
    return e.translated.emplace_back(std::move(*translated)).get();
  });
}

}  // namespace eum::rt
