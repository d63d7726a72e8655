#pragma once
// FrameSlots: places in the host stack frame for spilled values of one block. A place is reused when all of
// its values have left it, so that the frame is as large as what is spilled at the same time.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace eum::jit::codegen {

class FrameSlots {
 public:
  /// `base`: offset of the first place, a multiple of `vector_bytes`.
  FrameSlots(std::int32_t base, std::int32_t vector_bytes)
      : base_(base), vector_bytes_(vector_bytes), next_(base), end_(base) {}

  void begin_block() {
    next_ = base_;
    sharers_.clear();
    vectors_.clear();
    words_.clear();
  }
  std::int32_t take_vector() {
    const std::int32_t place = vectors_.empty() ? grow(vector_bytes_) : pop(vectors_);
    sharers(place) = 1;
    return place;
  }
  /// Another value shares a place that has been taken.
  void share_vector(std::int32_t place) { ++sharers(place); }
  std::int32_t take_word() {
    if (words_.empty()) {
      // A vector's place cut into words.
      const std::int32_t place = take_vector();
      for (std::int32_t at = vector_bytes_ - 8; at >= 0; at -= 8) words_.push_back(place + at);
    }
    return pop(words_);
  }
  void release_vector(std::int32_t place) {
    if (--sharers(place) == 0) vectors_.push_back(place);
  }
  void release_word(std::int32_t place) { words_.push_back(place); }

  /// Bytes of frame, from offset 0, that all blocks so far need.
  std::int32_t end() const { return end_; }

 private:
  std::int32_t grow(std::int32_t bytes) {
    const std::int32_t place = next_;
    next_ += bytes;
    end_ = std::max(end_, next_);
    return place;
  }
  std::uint32_t& sharers(std::int32_t place) {
    const auto index = static_cast<std::size_t>((place - base_) / vector_bytes_);
    if (index >= sharers_.size()) sharers_.resize(index + 1);
    return sharers_[index];
  }
  static std::int32_t pop(std::vector<std::int32_t>& places) {
    const std::int32_t place = places.back();
    places.pop_back();
    return place;
  }

  std::int32_t base_, vector_bytes_, next_;
  std::int32_t end_;
  std::vector<std::int32_t> vectors_, words_;
  std::vector<std::uint32_t> sharers_;  ///< how many values share each place for a vector
};

}  // namespace eum::jit::codegen
