#pragma once
// A divergent branch at the end of a block: which instructions it consists of.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

struct PartingBranch {
  ir::ValueId bits;        ///< a mask
  bool bits_go;            ///< its channels take the branch, the others are parked; else the reverse
  std::uint64_t variable;  ///< where they are parked
  std::size_t begin;       ///< the first of its instructions
  const CodeInst* branch;
};

/// `insts`: all of a block's full version.
std::optional<PartingBranch> parting_branch(std::span<const CodeInst> insts);

}  // namespace eum::jit::codegen
