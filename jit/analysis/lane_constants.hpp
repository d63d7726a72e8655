#pragma once
// Values of a block of which every lane is known, and results of ops on them: compilers compute the numbers
// of channels, 0, 1, 2, ..., wherever they index an array of registers.
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "frontend/ir/semantics/lane_function.hpp"

namespace eum::jit {

class LaneConstants {
 public:
  explicit LaneConstants(const ir::Function& function) : function_(function) {}

  /// Values are those of one block.
  void begin_block() { ++block_; }
  /// Notes the values of constant and vconst.
  void note(const ir::Inst& inst) {
    if (!ir::is_int(inst.type) || (inst.op != ir::Op::constant && inst.op != ir::Op::vconst)) return;
    if (known_.size() <= inst.result) known_.resize(function_.values.size());
    known_[inst.result] = {inst.imm, block_, inst.op == ir::Op::vconst};
  }
  std::optional<ir::PoolEntry> lanes_of(ir::ValueId value) const {
    const Known* known = find(value);
    if (known == nullptr) return std::nullopt;
    if (known->differ) return function_.pool[static_cast<std::size_t>(known->imm)];
    ir::PoolEntry lanes;
    lanes.fill(known->imm);
    return lanes;
  }
  /// The result of a pure op on integers whose operands are known, and differ from lane to lane; nothing for
  /// other ops.
  std::optional<ir::PoolEntry> result(const ir::Inst& inst) const {
    const ir::ShapeInfo& shape = ir::shape_of(inst.op);
    if (!shape.lanewise() || inst.result_count != 1 || inst.arg_count == 0 || !ir::is_int(inst.type))
      return std::nullopt;
    bool differ = false;
    for (const ir::ValueId arg : function_.args(inst)) {
      const Known* known = find(arg);
      if (known == nullptr) return std::nullopt;
      differ |= known->differ;
    }
    const ir::LaneFunction compute = ir::lane_function(inst.op, inst.type, inst.from);
    if (!differ || compute == nullptr || ir::is_mask(function_.values[inst.result].type)) return std::nullopt;
    std::array<std::array<std::byte, 8 * ir::max_lanes>, ir::max_pure_operands> packed{};
    std::array<const void*, ir::max_pure_operands> args{};
    for (unsigned k = 0; k < inst.arg_count; ++k) {
      const ir::ValueId arg = function_.arg(inst, k);
      copy(*lanes_of(arg), packed[k], ir::size_of(function_.values[arg].type), inst.lanes);
      args[k] = packed[k].data();
    }
    std::array<std::byte, 8 * ir::max_lanes> computed{};
    compute(computed.data(), args.data(), inst.lanes);
    ir::PoolEntry lanes{};
    const unsigned bytes = ir::size_of(inst.type);
    for (unsigned i = 0; i < inst.lanes; ++i) std::memcpy(&lanes[i], computed.data() + i * bytes, bytes);
    return lanes;
  }

 private:
  struct Known {
    std::uint64_t imm = 0;    ///< index of the pool entry if lanes differ
    std::uint32_t block = 0;  ///< 0: not known
    bool differ = false;
  };
  const Known* find(ir::ValueId value) const {
    return value < known_.size() && known_[value].block == block_ ? &known_[value] : nullptr;
  }
  static void copy(const ir::PoolEntry& lanes, std::array<std::byte, 8 * ir::max_lanes>& packed,
                   unsigned bytes, unsigned count) {
    for (unsigned i = 0; i < count; ++i) std::memcpy(packed.data() + i * bytes, &lanes[i], bytes);
  }

  const ir::Function& function_;
  std::vector<Known> known_;
  std::uint32_t block_ = 0;
};

}  // namespace eum::jit
