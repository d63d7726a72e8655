// Texts are parsed before files are read, files before anything is translated, and all of it before anything
// runs.
#include "runtime/cli/run/session.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cli/disable.hpp"
#include "runtime/cli/engine_option.hpp"
#include "runtime/cli/files.hpp"

namespace eum::cli {
namespace {

/// Parses X[,Y[,Z]] into `to`; returns the number of dimensions.
Result<unsigned> parse_size(std::string_view option, std::string_view text, rt::Size3& to) {
  unsigned dims = 0;
  for (;;) {
    const auto comma = text.find(',');
    const auto number = parse_count("a number", text.substr(0, comma));
    if (!number || *number > ~std::uint32_t{0} || dims == 3)
      return error("{}: expected X, X,Y or X,Y,Z below 2^32, found '{}'", option, text);
    to[dims++] = static_cast<std::uint32_t>(*number);
    if (comma == std::string_view::npos) return dims;
    text.remove_prefix(comma + 1);
  }
}

Result<rt::NdRange> parse_range(const KernelOptions& options) {
  rt::NdRange range;
  const auto dims = parse_size("--global", options.global, range.global);
  if (!dims) return dims.error();
  range.dims = *dims;
  const auto as_many = [&](std::string_view option, const std::string& text, rt::Size3& to) -> Result<void> {
    if (text.empty()) return {};
    const auto found = parse_size(option, text, to);
    if (!found) return found.error();
    if (*found != range.dims)
      return error("{}: expected {} numbers as for --global, found {}", option, range.dims, *found);
    return {};
  };
  if (auto good = as_many("--local", options.local, range.local); !good) return good.error();
  if (!options.local.empty())
    for (unsigned d = range.dims; d < 3; ++d) range.local[d] = 1;
  if (auto good = as_many("--offset", options.offset, range.offset); !good) return good.error();
  return range;
}

constexpr std::string_view segment_limit = "segment";

/// Parses NAME=NUMBER of --limit.
Result<void> set_limit(std::string_view text, rt::DeviceOptions& options) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  std::string names(segment_limit);
  std::uint64_t* limit = name == segment_limit ? &options.most_segment_bytes : nullptr;
  for (const jit::LimitInfo& info : jit::limit_table) {
    names += fmt::format(", {}", info.name);
    if (name == info.name) limit = &(options.limits.*info.value);
  }
  if (limit == nullptr || equals == std::string_view::npos)
    return error("--limit {}: expected NAME=NUMBER, NAME one of {}", text, names);
  const auto number = parse_count("a number", text.substr(equals + 1));
  if (!number) return error("--limit {}: {}", text, number.error().message);
  *limit = *number;
  return {};
}

Result<rt::DeviceOptions> device_options(const RunOptions& options) {
  const auto engine = engine_of(options.engine);
  if (!engine) return engine.error();
  rt::DeviceOptions device;
  device.engine = *engine;
  device.workers = options.threads;
  device.budget = options.budget;
  device.exclusive_memory = true;
  device.check_bounds = options.bounds;
  if (options.profile) {
    if (device.engine == jit::EngineKind::reference)
      return error("--profile: expected an engine that translates, found {}", options.engine);
    if (options.threads > 1) return error("--profile: expected --threads 1, found {}", options.threads);
    device.workers = 1;  // the sampled thread
    device.listing = true;
  }
  if (options.every_instruction) {
    device.safepoints = jit::Safepoints::Instructions;
    device.exact_registers = true;
  }
  if (options.strict) device.reach = rt::Reach::Bytes;
  for (const std::string& text : options.limits)
    if (auto set = set_limit(text, device); !set) return set.error();
  const auto left = left_without(options.disabled);
  if (!left) return left.error();
  device.optimisations = *left;
  return device;
}

}  // namespace

std::string limit_help() {
  std::string text = "NAME=NUMBER, at most so much of";
  for (const jit::LimitInfo& info : jit::limit_table)
    text += fmt::format("\n  {}  {} ({})", info.name, info.doc, jit::Limits{}.*info.value);
  return text + fmt::format("\n  {}  bytes of a program's constants or globals ({})", segment_limit,
                            rt::DeviceOptions{}.most_segment_bytes);
}

Session::Session(const RunOptions& options) : options_(options) {}

std::optional<Failure> Session::prepare() {
  const auto device_with = device_options(options_);
  if (!device_with) return Failure{ExitCode::Usage, device_with.error()};
  for (const KernelOptions& kernel : options_.kernels)
    if (auto failed = parse(kernel)) return failed;
  auto device = rt::Device::create(*device_with);
  if (!device) return Failure{ExitCode::Internal, device.error()};
  device_ = std::move(*device);
  if (auto failed = load()) return failed;
  for (Step& step : steps_)
    if (auto failed = prepare(step)) return failed;
  return std::nullopt;
}

std::optional<Failure> Session::parse(const KernelOptions& options) {
  Step& step = steps_.emplace_back();
  step.options = &options;
  auto range = parse_range(options);
  if (!range) return Failure{ExitCode::Usage, range.error()};
  step.range = *range;
  for (const std::string& text : options.arguments) {
    auto argument = parse_argument(text);
    if (!argument) return Failure{ExitCode::Usage, argument.error()};
    step.arguments.push_back(std::move(*argument));
  }
  auto outputs = parse_outputs(options, step.arguments);
  if (!outputs) return Failure{ExitCode::Usage, outputs.error()};
  step.outputs = std::move(*outputs);
  return std::nullopt;
}

std::optional<Failure> Session::load() {
  rt::Program program;
  if (auto failed = read_program(options_.program, program)) return failed;
  for (Step& step : steps_) step.range.allow_remainder = program.allows_remainder();
  auto module = rt::Module::create(*device_, std::move(program));
  if (!module) {
    Error failed = module.error();
    failed.message = fmt::format("{}: {}", options_.program.file, failed.message);
    return Failure{ExitCode::BadInput, failed};
  }
  module_ = std::move(*module);
  return std::nullopt;
}

std::optional<Failure> Session::find_buffer(const Step& step, std::size_t index, const RunBuffer*& buffer) {
  const ArgumentText& argument = step.arguments[index];
  buffer = nullptr;
  if (!argument.may_be_buffer()) return std::nullopt;
  const bool pointer = index < step.kernel->arguments.size() &&
                       step.kernel->arguments[index].kind == rt::ArgumentKind::Pointer;
  if (argument.form == ArgumentText::Form::List && argument.name.empty() && !pointer) return std::nullopt;
  if (argument.form == ArgumentText::Form::Named) {
    const auto found = named_.find(argument.name);
    if (found == named_.end())
      return Failure{
          ExitCode::Usage,
          error("--arg {}: no buffer has this name yet; expected NAME=BUFFER, such as {}=zeros:1024",
                argument.text, argument.name)};
    buffer = found->second;
    return std::nullopt;
  }
  const std::string label =
      argument.name.empty() ? fmt::format("argument {}", index) : fmt::format("buffer {}", argument.name);
  auto made = make_buffer(argument, *device_, label);
  if (!made) return Failure{ExitCode::BadInput, made.error()};
  buffers_.push_back(std::make_unique<RunBuffer>(*made));
  buffer = buffers_.back().get();
  if (!argument.name.empty() && !named_.emplace(argument.name, buffer).second)
    return Failure{ExitCode::Usage, error("--arg {}: a buffer has this name already", argument.text)};
  return std::nullopt;
}

std::optional<Failure> Session::prepare(Step& step) {
  const auto kernel = module_->find(step.options->kernel);
  if (!kernel)
    return Failure{ExitCode::Mismatch, error("{}: {}", options_.program.file, kernel.error().message)};
  step.kernel = *kernel;
  if (const std::string what = rt::cannot_run(*step.kernel); !what.empty())
    return Failure{ExitCode::GuestFault, error("kernel {}: {}", step.kernel->name, what)};
  std::vector<rt::ArgumentValue> values;
  std::vector<const RunBuffer*> buffers(step.arguments.size());
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    if (auto failed = find_buffer(step, i, buffers[i])) return failed;
    if (buffers[i] != nullptr) {
      values.push_back(buffers[i]->value());
      if (auto warning = element_warning(*buffers[i], *step.kernel, i); !warning.empty())
        warnings_.push_back(std::move(warning));
    } else {
      auto value = argument_value(step.arguments[i], *step.kernel, i);
      if (!value) return Failure{ExitCode::Mismatch, value.error()};
      values.push_back(std::move(*value));
    }
  }
  // Translate first, so that its failure is distinguished from one of the arguments.
  const auto facts = rt::launch_facts(*module_, *step.kernel, values, step.range);
  if (!facts) return Failure{ExitCode::GuestFault, facts.error()};
  if (const auto translated = module_->translated(*step.kernel, *facts); !translated)
    return Failure{ExitCode::GuestFault, translated.error()};
  auto launch = rt::Launch::prepare(*module_, *step.kernel, values, step.range);
  if (!launch) return Failure{ExitCode::Mismatch, launch.error()};
  step.launch.emplace(std::move(*launch));
  if (options_.profile) {
    const jit::HostMap map = step.launch->translated().executable->host_map();
    step.sampler = std::make_unique<Sampler>(std::span(map.code, map.bytes));
  }
  for (OutputRequest& output : step.outputs)
    if (auto failed =
            prepare_output(output, buffers[output.argument], step.kernel->arguments[output.argument]))
      return failed;
  return std::nullopt;
}

std::optional<Failure> Session::run() {
  watch_.begin(options_.timeout, nullptr);
  std::optional<Failure> failed;
  for (std::uint64_t time = 0; time < options_.repeat && !failed && ended_early_ == nullptr; ++time)
    for (Step& step : steps_) {
      failed = run(step);
      if (failed || ended_early_ != nullptr) break;
    }
  watch_.end();
  for (Step& step : steps_)
    if (!failed && step.sampler) failed = take_profile(step);
  return failed;
}

std::optional<Failure> Session::run(Step& step) {
  watch_.redirect([&step] { step.launch->stop(); });
  if (step.sampler)
    if (auto begun = step.sampler->begin(); !begun) return Failure{ExitCode::Internal, begun.error()};
  auto report = step.launch->run();
  if (step.sampler) step.sampler->end();
  watch_.redirect(nullptr);
  if (!report) return Failure{ExitCode::Internal, report.error()};
  step.report = std::move(*report);
  step.seconds.push_back(step.report.seconds);
  printf_text_ += step.report.printf.text;
  if (!step.report.printf.incomplete.empty())
    warnings_.push_back(
        fmt::format("printf of kernel {}: {}", step.kernel->name, step.report.printf.incomplete));
  if (step.report.fault && step.report.fault->kind == "budget")
    step.report.fault->message += "; --budget allows more";
  if (step.report.fault || step.report.stopped) ended_early_ = &step;
  return std::nullopt;
}

std::optional<Failure> Session::take_profile(Step& step) {
  const auto code = module_->code(*step.kernel);
  if (!code) return Failure{ExitCode::Internal, code.error()};
  auto profile =
      make_profile(*code, step.launch->translated().executable->host_map(), step.sampler->counts());
  if (!profile) return Failure{ExitCode::Internal, profile.error()};
  step.profile = std::move(*profile);
  return std::nullopt;
}

}  // namespace eum::cli
