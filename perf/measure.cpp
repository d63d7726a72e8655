// Checks results first, then takes samples.
#include "perf/measure.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/cli/bench/clock.hpp"

namespace eum::perf {
namespace {

using cli::Instant;

/// Seconds per launch, averaged over `launches`.
Result<Instant> time(Contender& contender, unsigned launches) {
  const Instant start = Instant::now();
  for (unsigned i = 0; i < launches; i++)
    if (Result<void> done = contender.launch(); !done) return done.error();
  return (Instant::now() - start) / launches;
}

/// Empty if every buffer has the expected contents.
std::string check(Contender& contender, const kernels::KernelCase& kernel_case,
                  const std::vector<kernels::Bytes>& expected) {
  const Result<std::vector<kernels::Bytes>> got = contender.read();
  if (!got) return got.error().message;
  for (size_t i = 0; i < kernel_case.args.size(); i++) {
    if (!kernel_case.check(i)) continue;
    if (std::string wrong = kernels::compare(kernel_case, i, (*got)[i], expected); !wrong.empty())
      return wrong;
  }
  return {};
}

/// A contender and the number of launches in a sample of it.
struct Turn {
  Contender* contender;
  ContenderRecord* record;
  unsigned launches = 1;
};

/// Everything up to the first launches; an error is the reason why there will be no times.
Result<void> begin(Turn& turn, const PerfKernel& row, const kernels::KernelCase& kernel_case,
                   const std::vector<kernels::Bytes>& expected, const MeasureOptions& options) {
  Contender& contender = *turn.contender;
  if (std::string reason = contender.cannot(row, kernel_case); !reason.empty()) {
    turn.record->absent = reason;
    return Error{reason};
  }
  const auto failed = [&](const Error& why) {
    turn.record->failure = why.message;
    return why;
  };
  if (Result<void> done = contender.prepare(row, kernel_case); !done) return failed(done.error());
  const Result<Instant> first = time(contender, 1);
  if (!first) return failed(first.error());
  if (std::string wrong = check(contender, kernel_case, expected); !wrong.empty())
    return failed(Error{wrong});
  const Result<Instant> second = time(contender, 1);
  if (!second) return failed(second.error());
  const Result<HostCode> code = contender.code();
  if (!code) return failed(code.error());
  turn.record->build = contender.build_seconds() + std::max(0.0, first->wall - second->wall);
  turn.record->code = *code;
  turn.launches =
      static_cast<unsigned>(std::clamp(std::ceil(options.sample_seconds / second->wall), 1.0, 1e5));
  return {};
}

}  // namespace

KernelRecord measure(const PerfKernel& row, const kernels::KernelCase& kernel_case,
                     std::span<const std::unique_ptr<Contender>> contenders, const MeasureOptions& options) {
  KernelRecord record{row.name,
                      kernel_case.file,
                      kernel_case.kernel,
                      kernel_case.dimensions,
                      kernel_case.global,
                      kernel_case.local,
                      {}};
  const std::vector<kernels::Bytes> expected = kernels::expected_buffers(kernel_case);
  record.contenders.resize(contenders.size());
  std::vector<Turn> turns;
  for (size_t k = 0; k < contenders.size(); k++) {
    record.contenders[k].name = contenders[k]->name();
    Turn turn{contenders[k].get(), &record.contenders[k]};
    if (begin(turn, row, kernel_case, expected, options)) turns.push_back(turn);
  }
  for (unsigned i = 0; i < options.samples; i++)
    for (Turn& turn : turns) {
      const Result<Instant> took = time(*turn.contender, turn.launches);
      if (!took) {
        turn.record->failure = took.error().message;
        continue;
      }
      turn.record->wall.push_back(took->wall);
      turn.record->cpu.push_back(took->cpu);
    }
  return record;
}

}  // namespace eum::perf
