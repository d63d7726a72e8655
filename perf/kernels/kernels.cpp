// Helpers with which rows are made.
#include "perf/kernels/kernels.hpp"

namespace eum::perf {

using namespace kernels;

std::vector<PerfKernel> perf_kernels() {
  std::vector<PerfKernel> rows;
  add_given_rows(rows);
  add_work_rows(rows);
  add_corpus_rows(rows);
  return rows;
}

KernelCase PerfKernel::kernel_case(bool quick) const {
  KernelCase c = quick ? *find_small(small) : make();
  if (tolerance) c.tolerance = *tolerance;
  return c;
}

const KernelCase* find_small(std::string_view name) {
  static const std::vector<KernelCase> cases = corpus();
  const auto found = std::find_if(cases.begin(), cases.end(), [&](auto& c) { return c.name == name; });
  return found == cases.end() ? nullptr : &*found;
}

KernelCase resized(std::string_view small, std::array<uint32_t, 3> global, std::array<uint32_t, 3> local,
                   std::vector<Arg> args) {
  KernelCase c = *find_small(small);
  c.global = global;
  c.local = local;
  c.args = std::move(args);
  return c;
}

KernelCase enlarged(std::string_view small, uint32_t times) {
  KernelCase c = *find_small(small);
  c.global[0] *= times;
  for (Arg& arg : c.args) {
    auto* buffer = std::get_if<Buffer>(&arg);
    if (buffer == nullptr) continue;
    Bytes once = buffer->bytes;
    if (buffer->role != Role::In) once.resize(once.size() - kGuardElements * element_size(buffer->element));
    buffer->bytes.clear();
    buffer->bytes.reserve((times + 1) * once.size());
    for (uint32_t k = 0; k < times; k++) buffer->bytes.insert(buffer->bytes.end(), once.begin(), once.end());
    if (buffer->role != Role::In) append_guard(buffer->bytes, buffer->element);
  }
  return c;
}

}  // namespace eum::perf
