#include "runtime/dispatch/thread_payload.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace eum::rt {

namespace {

constexpr std::uint32_t least_run = 8;

std::uint32_t lowest_bit(std::uint32_t n) { return n & (0 - n); }

/// Whether `on` ids, in whole vectors, are all the first one, or increase from it by 1, as they mostly do.
bool is_one_run(const std::byte* row, std::uint16_t first, std::uint32_t on, bool increase) {
  constexpr std::uint32_t each = sizeof(__m128i) / 2;
  if (on % each != 0) return false;
  __m128i expected = _mm_set1_epi16(static_cast<std::int16_t>(first)),
          equal = _mm_cmpeq_epi16(expected, expected);
  if (increase) expected = _mm_add_epi16(expected, _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
  const __m128i step = _mm_set1_epi16(increase ? each : 0);
  for (std::uint32_t i = 0; i < on; i += each, expected = _mm_add_epi16(expected, step)) {
    __m128i ids;
    std::memcpy(&ids, row + std::size_t{2} * i, sizeof ids);
    equal = _mm_and_si128(equal, _mm_cmpeq_epi16(ids, expected));
  }
  return _mm_movemask_epi8(equal) == 0xffff;
}

/// The longest run, at most `longest`, that `on` ids of a thread keep: they are the same within a run, or
/// increase by 1 from a multiple of its length. 0: less than least_run, or an id exceeds 0x7fff.
std::uint32_t run_of_row(const std::byte* row, std::uint32_t on, bool increase, std::uint32_t longest) {
  std::uint16_t first = 0;
  std::memcpy(&first, row, sizeof first);
  if (on != 0 && first + on <= 0x8000 && is_one_run(row, first, on, increase)) {
    const std::uint32_t kept = increase && first != 0 ? std::min(longest, lowest_bit(first)) : longest;
    return kept < least_run ? 0 : kept;
  }
  // Four ids at a time, which no run of least_run splits.
  constexpr std::uint64_t every_id = 0x0001000100010001;
  const std::uint64_t steps = increase ? 0x0003000200010000 : 0;
  const std::uint32_t step = increase ? 4 : 0;
  std::uint32_t run = longest, expected = ~0u;
  // `counted`: the bits of the ids that there are.
  const auto keep = [&](const std::byte* at, std::uint64_t ids, std::uint64_t counted) {
    const std::uint32_t id = ids & 0xffff;
    if ((ids & every_id * 0x8000) != 0 || ids != ((id * every_id + steps) & counted)) return false;
    if (id != expected) {
      const auto i = static_cast<std::uint32_t>(at - row) / 2, begins = increase ? i | (id - i) : i;
      if (begins != 0) run = std::min(run, lowest_bit(begins));
    }
    expected = id + step;
    return true;
  };
  const std::uint32_t rest = on % 4;
  const std::byte *at = row, *const end = row + std::size_t{2} * (on - rest);
  std::uint64_t ids = 0;
  for (; at != end; at += sizeof ids) {
    std::memcpy(&ids, at, sizeof ids);
    if (!keep(at, ids, ~std::uint64_t{0})) return 0;
  }
  if (rest != 0) {
    ids = 0;
    std::memcpy(&ids, at, std::size_t{2} * rest);
    if (!keep(at, ids, (std::uint64_t{1} << 16 * rest) - 1)) return 0;
  }
  return run < least_run ? 0 : run;
}

}  // namespace

std::uint32_t consecutive_run(const PerThreadData& threads, const ir::ConsecutiveIds& ids) {
  const auto& [bytes, bytes_per_thread, first, last_mask] = threads;
  if (ids.count < least_run || bytes.empty() || ids.offset < first || ids.end() - first > bytes_per_thread)
    return 0;
  std::uint32_t run = lowest_bit(ids.count);
  // The ids in the last thread's inactive channels usually continue from 0.
  const std::uint32_t last_on = last_mask & ir::lane_mask(ids.count);
  if ((last_on & (last_on + 1)) != 0) return 0;
  for (std::size_t thread = 0; thread < bytes.size(); thread += bytes_per_thread) {
    const bool last = thread + bytes_per_thread >= bytes.size();
    const std::uint32_t on = last ? static_cast<std::uint32_t>(std::popcount(last_on)) : ids.count;
    for (std::uint32_t row = 0; row < ids.rows && run != 0; ++row)
      run = run_of_row(bytes.data() + thread + (ids.offset - first) + row * ids.row_bytes, on, row == 0, run);
  }
  return run < least_run ? 0 : run;
}

std::uint32_t whole_threads(const PerThreadData& threads, const ir::ConsecutiveIds& ids) {
  const auto count = static_cast<std::uint32_t>(threads.bytes.size() / threads.bytes_per_thread);
  return (~threads.last_mask & ir::lane_mask(ids.count)) != 0 ? count - 1 : count;
}

namespace {

/// By how much the ids of a thread are higher than those of the thread before, modulo 2^32; nothing if that
/// depends on the channel.
std::optional<jit::IdSteps::ByRow> step_to(const PerThreadData& threads, const ir::ConsecutiveIds& ids,
                                           std::size_t thread) {
  jit::IdSteps::ByRow steps{};
  for (std::uint32_t row = 0; row < ids.rows; ++row)
    for (std::uint32_t begin = 0; begin < ids.count; begin += ids.run) {
      const std::size_t at = ids.offset - threads.first + row * ids.row_bytes + std::size_t{2} * begin;
      const auto id = [&](std::size_t of) {
        std::uint16_t lowest = 0;
        std::memcpy(&lowest, threads.bytes.data() + of * threads.bytes_per_thread + at, sizeof lowest);
        return std::uint32_t{lowest};
      };
      const std::uint32_t step = id(thread) - id(thread - 1);
      if (begin == 0) steps[row] = step;
      if (step != steps[row]) return std::nullopt;
    }
  return steps;
}

}  // namespace

jit::IdSteps id_steps(const PerThreadData& threads, const ir::ConsecutiveIds& ids) {
  jit::IdSteps steps;
  if (ids.run == 0 || ids.rows > steps.in_line.size() || threads.bytes_per_thread == 0) return {};
  const std::uint32_t whole = whole_threads(threads, ids);
  if (whole < 2) return {};
  const auto first = step_to(threads, ids, 1);
  if (!first) return {};
  std::uint32_t line = 1;
  while (line < whole && step_to(threads, ids, line) == first) ++line;
  if (line == whole) {
    steps.by_line = *first;
  } else {
    const auto turn = step_to(threads, ids, line);
    const bool are_whole = whole * threads.bytes_per_thread == threads.bytes.size() && whole % line == 0;
    if (!turn || !are_whole) return {};
    for (std::uint32_t thread = line + 1; thread < whole; ++thread)
      if (step_to(threads, ids, thread) != (thread % line == 0 ? turn : first)) return {};
    steps.line_threads = line;
    steps.in_line = *first;
    for (std::size_t row = 0; row < first->size(); ++row)
      steps.by_line[row] = (*turn)[row] + (line - 1) * (*first)[row];
  }
  const auto goes_up = [](std::uint32_t step) { return step <= UINT16_MAX; };
  if (!std::ranges::all_of(steps.by_line, goes_up) || !std::ranges::all_of(steps.in_line, goes_up)) return {};
  return steps;
}

namespace {

/// sr0.0 of a thread with this slot. Kernels with private memory remove gap bits from it to get the slot (the
/// compiler's text for DG2 and Ponte Vecchio): bit 3, then bit 6, and with 64-byte registers bit 7 too.
std::uint32_t place_of_slot(std::uint32_t slot, std::uint32_t grf_bytes) {
  const auto gap = [](std::uint32_t value, unsigned at, unsigned bits) {
    const std::uint32_t low = (1u << at) - 1;
    return (value & low) | (value & ~low) << bits;
  };
  return gap(gap(slot, 3, 1), 6, grf_bytes == 64 ? 2 : 1);
}

/// Activates all four channels of each aligned group of four in which any is active.
constexpr std::uint32_t vector_mask(std::uint32_t mask) {
  constexpr std::uint32_t firsts = 0x11111111;
  return ((mask | mask >> 1 | mask >> 2 | mask >> 3) & firsts) * 15;
}
static_assert(vector_mask(0x00200001) == 0x00f0000f);

}  // namespace

std::uint32_t ThreadPayload::dispatch_mask(std::uint32_t thread) const {
  const std::uint32_t all = ir::lane_mask(walk_->code->simd);
  return thread + 1 == walk_->threads_per_group ? all & walk_->last_mask : all;
}

void ThreadPayload::write(std::byte* file, std::uint32_t thread) const {
  const ThreadCode& code = *walk_->code;
  std::byte* at = file + code.grf_bytes;
  const std::size_t own = walk_->per_thread_bytes;
  if (own != 0) std::memcpy(at, walk_->per_thread.data() + thread * own, own);
  if (const auto& shared = walk_->cross_thread; !shared.empty())
    std::memcpy(at + own, shared.data(), shared.size());
  const std::uint32_t mask = dispatch_mask(thread);
  std::memcpy(file + code.cr0_offset, &initial_control, sizeof initial_control);
  std::memcpy(file + code.sr0_offset + 8, &mask, sizeof mask);  // sr0.2: dispatch mask
  const std::uint32_t vectors = vector_mask(mask);
  std::memcpy(file + code.sr0_offset + 12, &vectors, sizeof vectors);  // sr0.3
}

std::array<std::uint32_t, 2> ThreadPayload::place(std::uint32_t slot) {
  // Fields of sr0.0: 27:24 thread spawner, 12 half slice, 11:8 EU, 2:0 thread of the EU; of sr0.1: 31:24
  // FFTID.
  constexpr std::uint32_t spawner = 7;
  return {spawner << 24 | (slot >> 3 & 31) << 8 | (slot & 7), slot << 24};
}

void ThreadPayload::write_header(Header& header, const GroupId& group, std::uint32_t slot,
                                 std::uint32_t thread) const {
  const ThreadCode& code = *walk_->code;
  header = walk_->header;
  if (code.text) {
    header[0] = place_of_slot(slot, code.grf_bytes);
    header[2] = thread;
  }
  constexpr unsigned gpgpu_dispatch = 9;  // later families use this bit as part of the slot
  const std::uint32_t dispatched = code.slot_bits <= gpgpu_dispatch ? 1u << gpgpu_dispatch : 0;
  header[5] = walk_->header[5] | (walk_->scratch.address + slot * walk_->scratch.bytes) | slot | dispatched;
  set_group(header, group);
}

}  // namespace eum::rt
