// Ratios, comparison of two runs, and conversion to and from JSON.
#include "perf/record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace eum::perf {
namespace {

using nlohmann::json;

json to_json(const ContenderRecord& c) {
  json result = {{"name", c.name}};
  if (!c.absent.empty()) result["absent"] = c.absent;
  if (!c.failure.empty()) result["failure"] = c.failure;
  if (!c.timed()) return result;
  result.update({{"build_seconds", c.build},
                 {"wall_seconds", c.wall},
                 {"cpu_seconds", c.cpu},
                 {"vector_bits", c.code.bits()},
                 {"instructions", {{"other", c.code.other}, {"packed_128_256_512", c.code.packed}}}});
  for (const auto& [name, times] : {std::pair{"wall", &c.wall}, std::pair{"cpu", &c.cpu}})
    result[name] = {{"least", cli::smallest(*times)}, {"median", cli::median(*times)}};
  return result;
}

json ratio_json(const Ratio& r) {
  return {{"median", r.median},
          {"of_least", r.least},
          {"interval", {r.interval.low, r.interval.high}},
          {"confidence", r.interval.confidence}};
}

ContenderRecord contender_from(const json& from) {
  ContenderRecord c;
  c.name = from.at("name");
  c.absent = from.value("absent", "");
  c.failure = from.value("failure", "");
  if (!from.contains("wall_seconds")) return c;
  c.build = from.at("build_seconds");
  from.at("wall_seconds").get_to(c.wall);
  from.at("cpu_seconds").get_to(c.cpu);
  c.code.other = from.at("instructions").at("other");
  from.at("instructions").at("packed_128_256_512").get_to(c.code.packed);
  if (c.wall.size() != c.cpu.size())
    throw std::invalid_argument(fmt::format("{}: expected as many times on the wall as of CPU", c.name));
  return c;
}

}  // namespace

const ContenderRecord* KernelRecord::find(std::string_view contender) const {
  const auto found =
      std::find_if(contenders.begin(), contenders.end(), [&](auto& c) { return c.name == contender; });
  return found == contenders.end() ? nullptr : &*found;
}

std::optional<Ratio> ratio(const Record& record, const KernelRecord& kernel, std::string_view a,
                           std::string_view b) {
  const ContenderRecord *x = kernel.find(a), *y = kernel.find(b);
  if (x == nullptr || y == nullptr || !x->timed() || !y->timed()) return std::nullopt;
  const std::vector<double>&over = record.times(*x), &under = record.times(*y);
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(over.size(), under.size()); i++) ratios.push_back(over[i] / under[i]);
  return Ratio{cli::median(ratios), cli::smallest(over) / cli::smallest(under), cli::median_interval(ratios)};
}

double geometric_mean(const Record& record, std::string_view a, std::string_view b) {
  double sum = 0;
  unsigned count = 0;
  for (const KernelRecord& kernel : record.kernels)
    if (const auto r = ratio(record, kernel, a, b)) {
      sum += std::log(r->median);
      count++;
    }
  return count == 0 ? 0 : std::exp(sum / count);
}

std::vector<std::string> regressions(const Record& old, const Record& now) {
  std::vector<std::string> lines;
  for (const KernelRecord& kernel : now.kernels) {
    const auto before =
        std::find_if(old.kernels.begin(), old.kernels.end(), [&](auto& k) { return k.name == kernel.name; });
    if (before == old.kernels.end()) continue;
    for (const std::string_view to : {kPocl, kNative}) {
      const auto was = ratio(old, *before, kEumulate, to), is = ratio(now, kernel, kEumulate, to);
      if (!was || !is) continue;
      if (is->interval.low > was->interval.high && is->median > was->median * 1.05)
        lines.push_back(fmt::format("{}: {:.3f} of {} ({:.3f} to {:.3f}), was {:.3f} ({:.3f} to {:.3f})",
                                    kernel.name, is->median, to, is->interval.low, is->interval.high,
                                    was->median, was->interval.low, was->interval.high));
      break;
    }
  }
  return lines;
}

std::string to_json(const Record& record) {
  json result = {{"host", record.host}, {"workers", record.workers}, {"kernels", json::array()}};
  for (const KernelRecord& kernel : record.kernels) {
    json row = {{"name", kernel.name},        {"file", kernel.file},
                {"kernel", kernel.kernel},    {"dimensions", kernel.dimensions},
                {"global", kernel.global},    {"local", kernel.local},
                {"contenders", json::array()}};
    for (const ContenderRecord& contender : kernel.contenders)
      row["contenders"].push_back(to_json(contender));
    for (const auto& [name, to] : {std::pair{"to_pocl", kPocl}, std::pair{"to_native", kNative}})
      if (const auto r = ratio(record, kernel, kEumulate, to)) row[name] = ratio_json(*r);
    result["kernels"].push_back(std::move(row));
  }
  return result.dump(1) + "\n";
}

Result<Record> record_from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    Record record{from.at("host"), from.at("workers"), {}};
    for (const json& row : from.at("kernels")) {
      KernelRecord& kernel = record.kernels.emplace_back();
      kernel.name = row.at("name");
      kernel.file = row.at("file");
      kernel.kernel = row.at("kernel");
      kernel.dimensions = row.at("dimensions");
      row.at("global").get_to(kernel.global);
      row.at("local").get_to(kernel.local);
      for (const json& contender : row.at("contenders"))
        kernel.contenders.push_back(contender_from(contender));
    }
    return record;
  } catch (const std::exception& e) {
    return error("expected a record of perf_compare, found something else: {}", e.what());
  }
}

}  // namespace eum::perf
