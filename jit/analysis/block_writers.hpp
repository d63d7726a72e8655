#pragma once
// Which instructions of a block write each granule of the register file, to find the last writer before any
// instruction.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"

namespace eum::jit {

class BlockWriters {
 public:
  static constexpr unsigned granule = 4;

  /// `insts`: of the block that is queried from now on.
  void find(const ir::Function& function, std::span<const ir::Inst> insts) {
    ++era_;
    written_.clear();
    const auto each = [&](const auto& visit) {
      for (std::uint32_t i = 0; i < insts.size(); ++i) {
        SlotRange range{};
        if (insts[i].op == ir::Op::reg_write)
          range = slots_of(insts[i], granule);
        else if (insts[i].op == ir::Op::reg_scatter)
          range = {0, function.indirect_end() / granule};
        else
          continue;
        for (unsigned g = range.first; g <= range.last; ++g) visit(g, i);
      }
    };
    each([&](unsigned g, std::uint32_t) {
      if (g >= granules_.size()) granules_.resize(g + 1);
      if (std::exchange(granules_[g].era, era_) != era_) {
        granules_[g].count = 0;
        written_.push_back(g);
      }
      ++granules_[g].count;
    });
    std::uint32_t all = 0;
    for (const unsigned g : written_) {
      granules_[g].first = all;
      all += std::exchange(granules_[g].count, 0);
    }
    writers_.resize(all);
    each([&](unsigned g, std::uint32_t i) { writers_[granules_[g].first + granules_[g].count++] = i; });
  }

  /// The last instruction before `at` that writes granule `g`.
  std::optional<std::uint32_t> last(unsigned g, std::uint32_t at) const {
    if (g >= granules_.size() || granules_[g].era != era_) return std::nullopt;
    const auto writers = std::span(writers_).subspan(granules_[g].first, granules_[g].count);
    const auto end = std::ranges::lower_bound(writers, at);
    return end == writers.begin() ? std::nullopt : std::optional(*std::prev(end));
  }

 private:
  struct Granule {
    std::uint32_t era = 0;               ///< if it is not era_, no instruction writes the granule
    std::uint32_t first = 0, count = 0;  ///< in writers_, in the order of the block
  };
  std::vector<Granule> granules_;
  std::vector<std::uint32_t> writers_;
  std::vector<unsigned> written_;
  std::uint32_t era_ = 0;
};

}  // namespace eum::jit
