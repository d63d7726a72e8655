// Loads of what has been loaded before. Unless pointers are declared `restrict`, compilers load everything
// again behind each store, as it might have been changed. Where surfaces share no memory, only stores to the
// same one change it.
#include <array>
#include <compare>
#include <map>

#include "jit/analysis/lane_sums.hpp"
#include "jit/analysis/surface_order.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// An element of each lane.
struct Element {
  std::uint8_t surface = 0;
  std::uint8_t lanes = 0;
  Type type{};
  bool by_parts = false;
  ValueId mask = no_value;
  Symbol varying = no_symbol, uniform = no_symbol;  ///< of the address
  std::uint32_t offset = 0;
  std::uint32_t component = 0;  ///< behind the address; the sum of both may wrap around

  auto operator<=>(const Element&) const = default;
};

class LoadedElements {
 public:
  explicit LoadedElements(Function& function) : function_(function), sums_(function), out_(function) {}

  void run(Block& block) {
    sums_.begin_block();
    loaded_.clear();
    out_.clear();
    for (const Inst& old : block.insts) {
      Inst inst = old;
      same_.resolve(function_, inst);
      settle(SurfaceOrder::of(function_, inst));
      if (may_repeat(function_, inst) && is_repeated(inst)) continue;
      sums_.note(inst);
      out_.keep(inst);
    }
    if (out_.insts().size() != block.insts.size()) out_.replace(block);
  }

  static bool may_repeat(const Function& function, const Inst& inst) {
    return inst.op == Op::load && function.access(inst).is_fixed_surface() &&
           function.access(inst).offset == 0;
  }

 private:
  void settle(const SurfaceOrder& order) {
    if (order.is_barrier) loaded_.clear();
    if (order.writes)
      std::erase_if(loaded_, [&](const auto& known) { return known.first.surface == *order.writes; });
  }

  /// If all elements have been loaded before, they are what was loaded then.
  bool is_repeated(const Inst& inst) {
    const MemoryAccess& access = function_.access(inst);
    const LaneSum address = sums_.of(function_.arg(inst, access.address_operand()));
    Element element{access.surface,         inst.lanes,      inst.type,
                    access.part_bytes != 0, inst.mask,       address.varying.symbol,
                    address.uniform.symbol, address.constant};
    std::array<ValueId, most_components> known;
    bool all = inst.result_count <= most_components;
    for (unsigned k = 0; k < inst.result_count; ++k) {
      element.component = access.component(k);
      const auto [at, is_new] = loaded_.try_emplace(element, inst.result + k);
      all &= !is_new;
      if (all) known[k] = at->second;
    }
    for (unsigned k = 0; all && k < inst.result_count; ++k) same_.add(inst.result + k, known[k]);
    return all;
  }

  static constexpr unsigned most_components = 16;

  Function& function_;
  LaneSums sums_;
  std::map<Element, ValueId> loaded_;
  SameValues same_;
  NewBlock out_;
};

}  // namespace

void repeated_loads(Function& function) {
  if (!function.disjoint_surfaces) return;
  run_on_blocks_with<LoadedElements>(
      function, [&](const Inst& inst) { return LoadedElements::may_repeat(function, inst); });
}

}  // namespace eum::jit
