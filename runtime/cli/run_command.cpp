// Arguments in, a range run, buffers out.
#include "runtime/cli/run_command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/cli/argument.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/launch.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t default_print = 16;
constexpr std::size_t values_per_line = 8;

struct RunOptions {
  std::string file, kernel, global, local, offset;
  std::vector<std::string> arguments, dumps, prints;
  std::string engine = "avx2";
  unsigned threads = 0;
  std::uint64_t budget = rt::DeviceOptions{}.budget;
  std::vector<std::string> limits;
  bool strict = false;
  bool as_json = false;
};

/// --print INDEX[:COUNT] or --dump INDEX=FILE.
struct OutputRequest {
  std::size_t argument = 0;
  std::uint64_t count = default_print;  // print
  std::string path;                     // dump
};

/// A failure with the exit code that it ends the program with.
struct Failure {
  ExitCode code;
  Error error;
};

/// X[,Y[,Z]] into `to`; the number of dimensions.
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

Result<rt::NdRange> parse_range(const RunOptions& options) {
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

Result<OutputRequest> parse_request(std::string_view option, std::string_view text, char separator,
                                    const std::vector<ArgumentText>& arguments) {
  OutputRequest request;
  const auto at = text.find(separator);
  const auto index = parse_count("the number of an argument", text.substr(0, at));
  if (!index) return error("{} {}: {}", option, text, index.error().message);
  if (*index >= arguments.size() || !arguments[*index].is_buffer())
    return error("{} {}: expected the number of a buffer argument, from 0, found {}", option, text, *index);
  request.argument = *index;
  const bool has_tail = at != std::string_view::npos;
  const std::string_view tail = has_tail ? text.substr(at + 1) : std::string_view();
  if (separator == '=') {
    if (tail.empty()) return error("{} {}: expected INDEX=FILE", option, text);
    request.path = tail;
  } else if (has_tail) {
    const auto count = parse_count("a number of elements", tail);
    if (!count) return error("{} {}: {}", option, text, count.error().message);
    request.count = *count;
  }
  return request;
}

constexpr std::string_view segment_limit = "segment";

/// NAME=NUMBER of --limit.
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

/// "code: bytes of guest code (67108864)" and so on, a line each.
std::string limit_help() {
  std::string text = "NAME=NUMBER, at most so much of";
  for (const jit::LimitInfo& info : jit::limit_table)
    text += fmt::format("\n  {}  {} ({})", info.name, info.doc, jit::Limits{}.*info.value);
  return text + fmt::format("\n  {}  bytes of a program's constants or globals ({})", segment_limit,
                            rt::DeviceOptions{}.most_segment_bytes);
}

/// How a buffer is printed: as its --arg says, else as the kernel's parameter is declared, else in dwords.
Element element_of(const ArgumentText& text, const rt::Argument& parameter) {
  if (text.element) return *text.element;
  std::string_view type = parameter.type_name;
  if (const auto star = type.find('*'); star != std::string_view::npos) type = type.substr(0, star);
  while (!type.empty() && (type.back() == ' ' || (type.back() >= '0' && type.back() <= '9')))
    type.remove_suffix(1);  // vectors as their elements
  return element_of_opencl(type).value_or(Element::u32);
}

/// A number, or a string for what JSON has no number for (nan, inf).
json json_value(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_number() ? value : json(text);
}

/// What of the kernel cannot run yet; empty if all of it can.
std::string unsupported(const rt::Kernel& kernel) {
  if (!kernel.unsupported.empty()) return kernel.unsupported;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const rt::ArgumentKind kind = kernel.arguments[i].kind;
    if (kind == rt::ArgumentKind::Image || kind == rt::ArgumentKind::Sampler)
      return fmt::format("argument {} ({}) is {}, which is not supported", i,
                         rt::describe_argument(kernel, i),
                         kind == rt::ArgumentKind::Image ? "an image" : "a sampler");
  }
  for (const rt::Patch& patch : kernel.implicit)
    if (patch.item == rt::PayloadItem::PrintfBuffer) return "it calls printf, which is not supported";
  return {};
}

class Run {
 public:
  explicit Run(const RunOptions& options) : options_(options) {}

  int execute() {
    for (auto step : {&Run::parse, &Run::load, &Run::prepare, &Run::launch, &Run::write}) {
      if (const auto failure = (this->*step)()) return fail(failure->code, failure->error);
    }
    return number(ExitCode::Ok);
  }

 private:
  using Step = std::optional<Failure>;

  Step parse() {
    const auto engine = jit::parse_engine(options_.engine);
    if (!engine)
      return Failure{ExitCode::Usage,
                     error("--engine: expected avx2 or reference, found '{}'", options_.engine)};
    device_options_.engine = *engine;
    device_options_.workers = options_.threads;
    device_options_.budget = options_.budget;
    if (options_.strict) device_options_.reach = rt::Reach::Bytes;
    for (const std::string& text : options_.limits)
      if (auto set = set_limit(text, device_options_); !set) return Failure{ExitCode::Usage, set.error()};
    auto range = parse_range(options_);
    if (!range) return Failure{ExitCode::Usage, range.error()};
    range_ = *range;
    for (const std::string& text : options_.arguments) {
      auto argument = parse_argument(text);
      if (!argument) return Failure{ExitCode::Usage, argument.error()};
      arguments_.push_back(std::move(*argument));
    }
    const auto requests = [&](std::string_view option, const std::vector<std::string>& texts, char separator,
                              std::vector<OutputRequest>& to) -> Step {
      for (const std::string& text : texts) {
        auto request = parse_request(option, text, separator, arguments_);
        if (!request) return Failure{ExitCode::Usage, request.error()};
        to.push_back(std::move(*request));
      }
      return std::nullopt;
    };
    if (auto bad = requests("--dump", options_.dumps, '=', dumps_)) return bad;
    return requests("--print", options_.prints, ':', prints_);
  }

  Step load() {
    auto program = read_program(options_.file);
    if (!program) return Failure{ExitCode::BadInput, program.error()};
    range_.allow_remainder = program->allows_remainder();
    auto device = rt::Device::create(device_options_);
    if (!device) return Failure{ExitCode::Internal, device.error()};
    device_ = std::move(*device);
    auto module = rt::Module::create(*device_, std::move(*program));
    if (!module) return Failure{ExitCode::BadInput, prefixed(options_.file, module.error())};
    module_ = std::move(*module);
    return std::nullopt;
  }

  Step prepare() {
    const auto kernel = module_->find(options_.kernel);
    if (!kernel) return Failure{ExitCode::Mismatch, error("{}: {}", options_.file, kernel.error().message)};
    kernel_ = *kernel;
    if (const std::string what = unsupported(*kernel_); !what.empty())
      return Failure{ExitCode::GuestFault, error("kernel {}: {}", kernel_->name, what)};
    std::vector<rt::ArgumentValue> values;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (auto good = check_number(arguments_[i], *kernel_, i); !good)
        return Failure{ExitCode::Mismatch, good.error()};
      buffers_.emplace_back();
      if (arguments_[i].is_buffer()) {
        const auto buffer = make_buffer(arguments_[i], *device_, i);
        if (!buffer) return Failure{ExitCode::BadInput, buffer.error()};
        buffers_.back() = *buffer;
      }
      values.push_back(argument_value(arguments_[i], buffers_.back()));
    }
    // The translation comes first, so that its failure is told from one of the arguments.
    if (const auto translated = module_->translated(*kernel_); !translated)
      return Failure{ExitCode::GuestFault, translated.error()};
    auto launch = rt::Launch::prepare(*module_, *kernel_, values, range_);
    if (!launch) return Failure{ExitCode::Mismatch, launch.error()};
    launch_.emplace(std::move(*launch));
    return std::nullopt;
  }

  Step launch() {
    auto report = launch_->run();
    if (!report) return Failure{ExitCode::Internal, report.error()};
    if (report->fault) return Failure{ExitCode::GuestFault, Error{*report->fault}};
    report_ = std::move(*report);
    return std::nullopt;
  }

  Step write() {
    for (const OutputRequest& dump : dumps_) {
      if (auto written = write_file(dump.path, buffers_[dump.argument].bytes()); !written)
        return Failure{ExitCode::BadInput, written.error()};
    }
    if (options_.as_json)
      fmt::print("{}\n", report_json().dump(2));
    else
      print_report();
    return std::nullopt;
  }

  std::uint64_t shown(const OutputRequest& print, Element element) const {
    return std::min(print.count, buffers_[print.argument].size / info(element).bytes);
  }

  void print_report() const {
    const rt::TranslatedKernel& t = launch_->translated();
    const rt::Size3& local = launch_->payload().local_size;
    fmt::print("{}: SIMD{}, local size {},{},{}, {} groups, {} threads, {} guest instructions\n",
               kernel_->name, kernel_->simd_size, local[0], local[1], local[2], report_.counts.groups,
               report_.counts.threads, report_.counts.instructions);
    fmt::print(
        "translated {} instructions in {:.3f} ms; ran in {:.3f} ms on {}, {} worker{}: {:.1f} M guest "
        "instructions/s\n",
        t.instructions, t.seconds() * 1e3, report_.seconds * 1e3, device_->engine().name(),
        device_->workers().count(), device_->workers().count() == 1 ? "" : "s", rate() / 1e6);
    for (const OutputRequest& print : prints_) {
      const Element element = element_of(arguments_[print.argument], kernel_->arguments[print.argument]);
      const rt::Buffer& buffer = buffers_[print.argument];
      fmt::print("argument {} ({}), {} of {}:\n", print.argument, info(element).name, shown(print, element),
                 buffer.size / info(element).bytes);
      for (std::uint64_t i = 0; i < shown(print, element); ++i)
        fmt::print("{}{}", value_text(element, buffer.bytes(), i),
                   i % values_per_line == values_per_line - 1 || i + 1 == shown(print, element) ? "\n" : " ");
    }
  }

  json report_json() const {
    const rt::TranslatedKernel& t = launch_->translated();
    json result = {{"kernel", kernel_->name},
                   {"engine", std::string(device_->engine().name())},
                   {"workers", device_->workers().count()},
                   {"simd", kernel_->simd_size},
                   {"global", range_.global},
                   {"local", launch_->payload().local_size},
                   {"groups", report_.counts.groups},
                   {"threads", report_.counts.threads},
                   {"guest_instructions", report_.counts.instructions},
                   {"translated_instructions", t.instructions},
                   {"translation_seconds", t.seconds()},
                   {"run_seconds", report_.seconds},
                   {"guest_instructions_per_second", rate()},
                   {"printed", json::array()}};
    for (const OutputRequest& print : prints_) {
      const Element element = element_of(arguments_[print.argument], kernel_->arguments[print.argument]);
      json values = json::array();
      for (std::uint64_t i = 0; i < shown(print, element); ++i)
        values.push_back(json_value(value_text(element, buffers_[print.argument].bytes(), i)));
      result["printed"].push_back({{"argument", print.argument},
                                   {"type", std::string(info(element).name)},
                                   {"elements", buffers_[print.argument].size / info(element).bytes},
                                   {"values", std::move(values)}});
    }
    return result;
  }

  double rate() const {
    return report_.seconds > 0 ? static_cast<double>(report_.counts.instructions) / report_.seconds : 0;
  }

  const RunOptions& options_;
  rt::DeviceOptions device_options_;
  rt::NdRange range_;
  std::vector<ArgumentText> arguments_;
  std::vector<OutputRequest> dumps_, prints_;
  std::unique_ptr<rt::Device> device_;
  std::unique_ptr<rt::Module> module_;
  const rt::Kernel* kernel_ = nullptr;
  std::vector<rt::Buffer> buffers_;  // by argument
  std::optional<rt::Launch> launch_;
  rt::LaunchReport report_;
};

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "run a kernel over a range of work items");
  command->add_option("file", options->file, "compiled program (ocloc -device bxt; either container)")
      ->required();
  command->add_option("--kernel", options->kernel, "name of the kernel")->required();
  command->add_option("--global", options->global, "work items: X, X,Y or X,Y,Z")->required();
  command->add_option("--local", options->local, "work items of a group (default: chosen)");
  command->add_option("--offset", options->offset, "global id of the first work item (default: 0)");
  command->add_option("--arg", options->arguments, argument_help())->allow_extra_args(false);
  command->add_option("--dump", options->dumps, "INDEX=FILE: write a buffer to a file afterwards")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--print", options->prints,
          fmt::format("INDEX[:COUNT]: print the first elements of a buffer (default: {})", default_print))
      ->allow_extra_args(false);
  command->add_option("--engine", options->engine, "avx2 or reference")->capture_default_str();
  command->add_option("--threads", options->threads, "host threads (default: one for each processor)")
      ->check(CLI::Range(1u, rt::max_thread_slots));
  command->add_option("--budget", options->budget, "guest instructions that one guest thread may execute")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->capture_default_str();
  command->add_option("--limit", options->limits, limit_help())->allow_extra_args(false);
  command->add_flag(
      "--strict", options->strict,
      "an access by address behind the end of a buffer faults, also within the buffer's last page");
  command->add_flag("--json", options->as_json, "report as JSON");
  command->footer(
      "Example: y = 2.5 * x + y over 1024 floats\n"
      "  eumulate run saxpy.bin --kernel saxpy --global 1024 --arg f32:2.5 --arg iota:f32:1024 \\\n"
      "    --arg random:f32:1024:1 --arg i32:1024 --print 2:8\n");
  command->callback([options, &exit_code] { exit_code = Run(*options).execute(); });
}

}  // namespace eum::cli
