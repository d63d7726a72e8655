// Both forms have the same contents; JSON escapes everything that a terminal might interpret.
#include "runtime/cli/run/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cli/output.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;

constexpr std::size_t values_per_line = 8;

/// A number, or a string for values that JSON cannot represent (nan, inf).
json json_value(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_number() ? value : json(text);
}

double median(std::vector<double> seconds) {
  if (seconds.empty()) return 0;
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

double best(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

/// Guest instructions per second.
double rate(const Step& step) {
  const double seconds = best(step.seconds);
  return seconds > 0 ? static_cast<double>(step.report.counts.instructions) / seconds : 0;
}

void print_step(Session& session, const Step& step) {
  const rt::TranslatedKernel& t = step.launch->translated();
  const rt::Size3& local = step.launch->payload().local_size;
  const rt::WalkerCounts& counts = step.report.counts;
  const unsigned workers = session.device().workers().count();
  print("{}: SIMD{}, local size {},{},{}, {} groups, {} threads, {} guest instructions\n",
        visible(step.kernel->name), step.kernel->simd_size, local[0], local[1], local[2], counts.groups,
        counts.threads, counts.instructions);
  const std::string ran =
      step.seconds.size() == 1
          ? fmt::format("ran in {:.3f} ms", step.seconds[0] * 1e3)
          : fmt::format("ran {} times, in {:.3f} ms at best and {:.3f} ms in the median,",
                        step.seconds.size(), best(step.seconds) * 1e3, median(step.seconds) * 1e3);
  print("translated {} instructions in {:.3f} ms; {} on {}, {} worker{}: {:.1f} M guest instructions/s\n",
        t.instructions, t.seconds() * 1e3, ran, session.device().engine().name(), workers,
        workers == 1 ? "" : "s", rate(step) / 1e6);
}

json to_json(const Step& step) {
  const rt::TranslatedKernel& t = step.launch->translated();
  json result = {{"kernel", step.kernel->name},
                 {"simd", step.kernel->simd_size},
                 {"global", step.range.global},
                 {"local", step.launch->payload().local_size},
                 {"groups", step.report.counts.groups},
                 {"threads", step.report.counts.threads},
                 {"guest_instructions", step.report.counts.instructions},
                 {"translated_instructions", t.instructions},
                 {"translation_seconds", t.seconds()},
                 {"code_bytes", t.executable->code_bytes()},
                 {"metadata_bytes", t.executable->metadata_bytes()},
                 {"run_seconds", best(step.seconds)},
                 {"guest_instructions_per_second", rate(step)}};
  if (step.seconds.size() > 1) result["run_seconds_each"] = step.seconds;
  if (step.profile) result["profile"] = profile_json(*step.profile);
  return result;
}

json to_json(const rt::FaultReport& fault) {
  json result = {
      {"kind", fault.kind}, {"message", fault.message}, {"group", fault.group}, {"thread", fault.thread}};
  if (fault.ip) {
    result["ip"] = *fault.ip;
    result["instruction"] = fault.instruction;
  }
  if (fault.lane) {
    result["lane"] = *fault.lane;
    result["bytes"] = fault.bytes;
  }
  if (fault.address) result["address"] = *fault.address;
  if (fault.region)
    result["nearest_region"] = {
        {"name", fault.region->name}, {"address", fault.region->address}, {"bytes", fault.region->bytes}};
  for (const rt::FaultReport::Place& place : fault.waiting)
    result["waiting"].push_back(
        {{"thread", place.thread}, {"ip", place.ip}, {"instruction", place.instruction}});
  return result;
}

/// The argument bound to a surface, as errors name it.
std::string surface_name(const Step& step, std::uint32_t surface) {
  const std::vector<rt::Argument>& arguments = step.kernel->arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].binding == surface)
      return fmt::format("argument {} ({})", i, rt::describe_argument(*step.kernel, i));
  return fmt::format("surface {}", surface);
}

void print_bounds(const Step& step) {
  for (const rt::BoundsReport& report : step.report.out_of_bounds)
    print("{}: {} {} beyond the {} bytes of {}, such as {} bytes at byte {}, at {:#x}: {}\n",
          step.kernel->name, report.count, report.first.write ? "writes" : "reads", report.surface_bytes,
          surface_name(step, report.first.surface), report.first.bytes, report.first.offset,
          report.first.guest_ip, report.instruction);
}

json to_json(const rt::BoundsReport& report, const Step& step) {
  return {{"ip", report.first.guest_ip},           {"instruction", report.instruction},
          {"write", report.first.write},           {"elements", report.count},
          {"bytes", report.first.bytes},           {"surface", surface_name(step, report.first.surface)},
          {"surface_bytes", report.surface_bytes}, {"first_offset", report.first.offset}};
}

json values_json(const OutputRequest& request, std::size_t step) {
  json values = json::array();
  const unsigned unit = request.buffer->unit();
  for (std::uint64_t i = 0; i < request.shown(); ++i) {
    json element = json::array();
    for (unsigned k = 0; k < unit; ++k)
      element.push_back(json_value(value_text(request.element, request.contents(), i * unit + k)));
    values.push_back(request.buffer->image ? std::move(element) : element[0]);
  }
  return {{"step", step},
          {"argument", request.argument},
          {"type", info(request.element).name},
          {"elements", request.elements()},
          {"values", std::move(values)}};
}

json to_json(const Expectation& expectation) {
  json first = json::array();
  for (const Difference& difference : expectation.comparison.first)
    first.push_back({{"index", difference.index},
                     {"found", json_value(difference.found)},
                     {"expected", json_value(difference.expected)}});
  return {{"argument", expectation.request->argument},
          {"file", expectation.request->path},
          {"elements", expectation.comparison.elements},
          {"different", expectation.comparison.different},
          {"first_differences", std::move(first)}};
}

std::string_view ending(Session& session) {
  const Step* step = session.ended_early();
  if (step == nullptr) return "done";
  if (step->report.fault) return "fault";
  return session.stop_reason() == Watch::Reason::Timeout ? "timeout" : "signal";
}

}  // namespace

void print_values(const OutputRequest& request) {
  print("{}, {} of {}{}:\n", request.label, request.shown(), request.elements(),
        request.buffer->image ? " texels" : "");
  for (std::uint64_t i = 0; i < request.shown(); ++i)
    print("{}{}", element_text(request, i),
          i % values_per_line == values_per_line - 1 || i + 1 == request.shown() ? "\n" : " ");
}

void print_text(Session& session) {
  put(session.printf_text());
  if (const std::string& text = session.printf_text(); !text.empty() && text.back() != '\n') put("\n");
  for (const Step& step : session.steps())
    if (!step.seconds.empty()) {
      print_step(session, step);
      if (step.profile) put(profile_text(*step.profile));
      print_bounds(step);
    }
  for (const Step& step : session.steps())
    for (const OutputRequest& request : step.outputs)
      if (request.kind == OutputRequest::Kind::Print) print_values(request);
}

void print_json(Session& session, const std::vector<Expectation>& expectations) {
  json report = {{"engine", session.device().engine().name()},
                 {"workers", session.device().workers().count()},
                 {"ended", ending(session)},
                 {"printf", session.printf_text()},
                 {"warnings", session.warnings()},
                 {"printed", json::array()}};
  std::vector<Step>& steps = session.steps();
  if (steps.size() == 1) report.update(to_json(steps[0]));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > 1 && !steps[i].seconds.empty()) report["steps"].push_back(to_json(steps[i]));
    for (const rt::BoundsReport& bounds : steps[i].report.out_of_bounds)
      report["out_of_bounds"].push_back(to_json(bounds, steps[i]));
    if (steps[i].report.fault) report["fault"] = to_json(*steps[i].report.fault);
    for (const OutputRequest& request : steps[i].outputs)
      if (request.kind == OutputRequest::Kind::Print) report["printed"].push_back(values_json(request, i));
  }
  for (const Expectation& expectation : expectations) report["expected"].push_back(to_json(expectation));
  // Names and printed text may be invalid UTF-8.
  print("{}\n", report.dump(2, ' ', true, json::error_handler_t::replace));
}

}  // namespace eum::cli
