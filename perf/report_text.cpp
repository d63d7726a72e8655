// The table in Markdown.
#include <fmt/core.h>

#include <algorithm>

#include "perf/report.hpp"

namespace eum::perf {
namespace {

std::string milliseconds(const Record& record, const ContenderRecord* contender) {
  if (contender == nullptr || !contender->absent.empty()) return "";
  if (!contender->failure.empty()) return "failed";
  const std::vector<double>& times = record.times(*contender);
  return times.empty() ? ""
                       : fmt::format("{:.3g} ({:.3g})", cli::median(times) * 1e3, cli::smallest(times) * 1e3);
}

std::string code(const ContenderRecord* contender) {
  return contender != nullptr && contender->timed() ? contender->code.text() : "";
}

std::string build(const ContenderRecord* contender) {
  return contender != nullptr && contender->timed() ? fmt::format("{:.1f}", contender->build * 1e3) : "";
}

std::string text(const std::optional<Ratio>& r) {
  return r ? fmt::format("{:.3f} | {:.3f} to {:.3f}", r->median, r->interval.low, r->interval.high) : " | ";
}

}  // namespace

std::string markdown(const Record& record) {
  std::string table = fmt::format(
      "{}, {} worker{}; milliseconds a launch ({}): median (least)\n\n"
      "| kernel | PoCL | Eumulate | C++ | Eumulate / PoCL | 95 % interval | Eumulate / C++ | 95 % interval | "
      "PoCL "
      "vectors | Eumulate vectors | C++ vectors | PoCL build, ms | Eumulate translation, ms | with AVX-512, "
      "of AVX2 | 95 % interval |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      record.host, record.workers, record.workers == 1 ? "" : "s",
      record.workers == 1 ? "CPU time" : "wall clock");
  std::vector<const KernelRecord*> order;
  for (const KernelRecord& kernel : record.kernels) order.push_back(&kernel);
  const auto badness = [&](const KernelRecord* kernel) {
    const auto r = ratio(record, *kernel, kEumulate, kPocl);
    return r ? r->median : -1.0;
  };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return badness(a) > badness(b); });
  std::string notes;
  for (const KernelRecord* kernel : order) {
    const ContenderRecord *pocl = kernel->find(kPocl), *eumulate = kernel->find(kEumulate),
                          *native = kernel->find(kNative);
    table += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", kernel->name,
                         milliseconds(record, pocl), milliseconds(record, eumulate),
                         milliseconds(record, native), text(ratio(record, *kernel, kEumulate, kPocl)),
                         text(ratio(record, *kernel, kEumulate, kNative)), code(pocl), code(eumulate),
                         code(native), build(pocl), build(eumulate),
                         text(ratio(record, *kernel, kAvx512, kEumulate)));
    for (const ContenderRecord& contender : kernel->contenders) {
      if (!contender.failure.empty())
        notes += fmt::format("- {}: {} FAILED: {}\n", kernel->name, contender.name, contender.failure);
      if (!contender.absent.empty() && contender.name != kNative)
        notes += fmt::format("- {}: not on {}: {}\n", kernel->name, contender.name, contender.absent);
    }
  }
  table += fmt::format("| geometric mean | | | | {:.3f} | | {:.3f} | | | | | | | {:.3f} | |\n",
                       geometric_mean(record, kEumulate, kPocl), geometric_mean(record, kEumulate, kNative),
                       geometric_mean(record, kAvx512, kEumulate));
  return notes.empty() ? table : table + "\n" + notes;
}

}  // namespace eum::perf
