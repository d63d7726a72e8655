// First-fit allocation in free ranges.
#include "frontend/visa/lower/register_file.hpp"

#include <iterator>

#include "frontend/ir/verifier.hpp"

namespace eum::visa {

std::uint32_t RegisterFile::take(std::uint64_t bytes) {
  const std::uint64_t size = rounded(bytes), step = bytes >= grf_bytes_ ? grf_bytes_ : vector;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const std::uint64_t at = (it->first + step - 1) / step * step;
    if (at + size > it->second) continue;
    const auto [first, last] = *it;
    free_.erase(it);
    if (first < at) free_[first] = at;
    if (at + size < last) free_[at + size] = last;
    return static_cast<std::uint32_t>(at);
  }
  const std::uint64_t at = (end_ + step - 1) / step * step;
  end_ = at + size;
  return static_cast<std::uint32_t>(at);
}

void RegisterFile::give_back(std::uint32_t at, std::uint64_t bytes) {
  const std::uint64_t size = rounded(bytes);
  if (size == 0) return;
  auto it = free_.emplace(at, at + size).first;
  if (const auto next = std::next(it); next != free_.end() && next->first == it->second) {
    it->second = next->second;
    free_.erase(next);
  }
  if (it == free_.begin()) return;
  if (const auto before = std::prev(it); before->second == it->first) {
    before->second = it->second;
    free_.erase(it);
  }
}

std::uint32_t RegisterFile::take_flag() {
  if (free_flags_.empty()) return eu::flag_register_bits * flags_++;
  const std::uint32_t first_bit = free_flags_.back();
  free_flags_.pop_back();
  return first_bit;
}

Result<eu::Target> RegisterFile::target() const {
  // A thread's payload may be larger than the part that the kernel reads; messages move whole registers, even
  // beyond a small variable at the end.
  constexpr std::uint64_t least = 128, slack = 2;
  const std::uint64_t registers = (end_ + grf_bytes_ - 1) / grf_bytes_ + slack;
  const eu::Target target{grf_bytes_ == 64 ? "visa64" : "visa32", static_cast<std::uint16_t>(grf_bytes_),
                          static_cast<std::uint16_t>(registers < least ? least : registers),
                          eu::flag_register_bits * flags_};
  if (registers > ir::max_file_bytes / grf_bytes_ || target.file_bytes() > ir::max_file_bytes)
    return error("expected variables that take at most {} bytes at a time, found {}", ir::max_file_bytes,
                 end_);
  if (target.flag_bits > ir::max_flag_bits)
    return error("expected at most {} predicates at a time, found {}",
                 ir::max_flag_bits / eu::flag_register_bits - 1, flags_ - 1);
  return target;
}

}  // namespace eum::visa
