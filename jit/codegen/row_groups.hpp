#pragma once
// Which loads or stores share rows of each lane, 16 bytes each. If it does not matter which lanes and
// components are in which register, they may swap what they access (SharedRows).
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

class RowGroups {
 public:
  struct Member {
    std::uint32_t group;
    unsigned part;
  };

  /// `candidates`: numbers of those of `insts` that access 16 bytes of each lane and cannot fault.
  RowGroups(const ir::Function& function, std::span<const CodeInst> insts,
            std::span<const std::uint32_t> candidates);

  /// Null: the instruction shares no row.
  const Member* of(std::uint32_t inst) const {
    const auto found = members_.find(inst);
    return found != members_.end() ? &found->second : nullptr;
  }
  /// The instructions of a group, in the order of what they access.
  std::span<const std::uint32_t> insts(std::uint32_t group) const { return groups_[group]; }
  std::size_t count() const { return groups_.size(); }
  /// Its instructions are no longer members of anything.
  void dissolve(std::uint32_t group) {
    for (const std::uint32_t inst : groups_[group]) members_.erase(inst);
  }

 private:
  std::vector<std::vector<std::uint32_t>> groups_;
  std::unordered_map<std::uint32_t, Member> members_;
};

}  // namespace eum::jit::codegen
