#pragma once
// Which bodies of branches may be executed with no channel active: those that then have no effect, but what
// they count, and few writes that get their old content back.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/block_cost.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/parked.hpp"

namespace eum::jit {

/// Hosts have masked stores of no smaller elements.
inline constexpr unsigned least_masked_bytes = 4;

/// Of a body that is executed whatever the channels are.
struct BodyLimit {
  CostLimit cost;
  bool may_store;
};

/// A store of a body.
struct Stored {
  ir::Type type;
  ir::MemoryAccess access;
  unsigned lanes;
  std::uint64_t place;  ///< of stores to the same places it is the same, mostly
  bool operator==(const Stored&) const = default;
};

class InertBodies {
 public:
  InertBodies(const ir::Function& function, const Liveness& liveness, const MayBeParked& parked)
      : function_(function), liveness_(liveness), parked_(parked) {}

  struct Body {
    std::vector<ir::Inst> undone;  ///< writes that have to get their old content back
    std::vector<Stored> stored;    ///< under each of the masks of joined bodies, by place
    unsigned stored_lanes = 0;     ///< under each of them
    bool has_branches = false;     ///< of which each stores under masks of its own
    bool loads = false;
  };
  /// The block from instruction `first` on, if it has no effect with no channel active; `on` is the execution
  /// mask.
  std::optional<Body> body(const ir::Block& block, std::size_t first, ir::ValueId on, const BodyLimit& limit);

  /// Whether the instruction counts instructions also if no channel is active: always, or those of a joined
  /// block to which control also went then.
  bool counts_empty(const ir::Block& block, const ir::Inst& inst) const;

 private:
  ir::ValueId arg(const ir::Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  bool note_stores(const ir::Block& block, Body& body, CostLimit& cost) const;
  ir::ValueId whole_mask(const ir::Block& block, ir::ValueId mask) const;
  std::uint64_t form_of(const ir::Block& block, ir::ValueId value, unsigned depth = 0) const;
  bool is_inert(const ir::Block& block, const ir::Inst& inst) const;
  bool counts_if_any(const ir::Block& block, const ir::Inst& inst) const;
  bool is_part(ir::ValueId mask) const;
  bool is_part_made(const ir::Inst& inst) const;
  bool only_adds(const ir::Block& block, const ir::Inst& set) const;
  bool sets_part(const ir::Block& block, const ir::Inst& set) const;
  bool is_wanted(const ir::Inst& write, const ir::Inst& terminator) const;

  const ir::Function& function_;
  const Liveness& liveness_;
  const MayBeParked& parked_;
  std::vector<ir::ValueId> parts_;  // of the body: masks within the execution mask
};

/// Whether the mask is what the variable holds.
inline bool is_content(const ir::Inst* mask, std::uint64_t variable) {
  return mask && mask->op == ir::Op::mask_get && mask->imm == variable;
}

/// What a mask_set adds to what the variable held; no_value: it does something else.
template <class Definition>
ir::ValueId added(const ir::Function& function, const ir::Inst& set, Definition definition) {
  const ir::Inst* sum = definition(function.arg(set, 0));
  if (!sum || sum->op != ir::Op::or_) return ir::no_value;
  for (const unsigned k : {0u, 1u})
    if (is_content(definition(function.arg(*sum, k)), set.imm)) return function.arg(*sum, 1 - k);
  return ir::no_value;
}

}  // namespace eum::jit
