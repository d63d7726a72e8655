// The rules, instruction by instruction.
#include "frontend/ir/verifier.hpp"

#include <bit>
#include <vector>

#include "frontend/ir/printer.hpp"
#include "frontend/ir/signature.hpp"

namespace eum::ir {
namespace {

std::string text(ValueInfo value) {
  return value.lanes == 0 ? fmt::format("{} of any lanes", info(value.type).name)
                          : fmt::format("{}x{}", info(value.type).name, value.lanes);
}

class Verifier {
 public:
  explicit Verifier(const Function& function)
      : function_(function), defined_in_(function.values.size(), no_block) {}

  Result<void> verify_function() {
    if (auto head = verify_head(); !head) return head;
    for (block_ = 0; block_ < function_.blocks.size(); ++block_) {
      const auto& insts = function_.blocks[block_].insts;
      if (insts.empty()) return error("b{}: expected a terminator, found an empty block", block_);
      for (std::size_t i = 0; i < insts.size(); ++i) {
        const bool last = i + 1 == insts.size();
        auto result = verify_inst(insts[i], last);
        if (!result)
          return error("b{} instruction {} `{}`: {}", block_, i, print_inst(function_, insts[i]),
                       result.error().message);
      }
    }
    return {};
  }

 private:
  Result<void> verify_head() const {
    if (function_.simd < 1 || function_.simd > max_lanes)
      return error("expected simd of 1 to {}, found {}", max_lanes, function_.simd);
    if (function_.file_bytes > max_file_bytes)
      return error("expected a register file of at most {} bytes, found {}", max_file_bytes,
                   function_.file_bytes);
    if (!std::has_single_bit(function_.slot_bytes) || function_.slot_bytes < 8 || function_.slot_bytes > 4096)
      return error("expected registers of 8 to 4096 bytes, a power of two, found {}", function_.slot_bytes);
    if (function_.mask_variables < 1 || function_.mask_variables > max_mask_variables)
      return error("expected 1 to {} mask variables, found {}", max_mask_variables, function_.mask_variables);
    if (function_.blocks.empty()) return error("expected at least one block, found none");
    return {};
  }

  Result<void> verify_inst(const Inst& inst, bool last) {
    const OpInfo& row = info(inst.op);
    const ShapeInfo shape = info(row.shape);
    if (is_terminator(inst.op) != last)
      return last ? error("expected a terminator at the end of the block")
                  : error("a terminator before the end of the block");
    if (auto r = verify_type(inst, row, shape); !r) return r;
    if (auto r = verify_attribute(inst, shape); !r) return r;
    if (auto r = verify_operands(inst, shape); !r) return r;
    return define_results(inst);
  }

  Result<void> verify_type(const Inst& inst, const OpInfo& row, const ShapeInfo& shape) const {
    if (!shape.typed) {
      if (inst.type != Type::u32 || inst.lanes != 1)
        return error("expected no type (u32x1), found {}", text({inst.type, inst.lanes}));
      return {};
    }
    if (inst.lanes < 1 || inst.lanes > max_lanes)
      return error("expected 1 to {} lanes, found {}", max_lanes, inst.lanes);
    if (!takes(row.types, inst.type))
      return error("{} does not take the type {}", op_name(inst.op), info(inst.type).name);
    const bool one_lane =
        row.shape == Shape::MaskToInt || row.shape == Shape::Effect1 || row.shape == Shape::JumpIp;
    if (one_lane && inst.lanes != 1) return error("expected 1 lane, found {}", inst.lanes);
    if (row.shape == Shape::JumpIp && inst.type != Type::u32)
      return error("expected u32, found {}", info(inst.type).name);
    if (row.shape == Shape::Convert) {
      if (!takes(row.types, inst.from))
        return error("{} does not take the type {}", op_name(inst.op), info(inst.from).name);
      if (inst.op == Op::bitcast && size_of(inst.type) != size_of(inst.from))
        return error("expected types of the same size, found {} and {}", info(inst.type).name,
                     info(inst.from).name);
    }
    if (row.shape == Shape::IntToMask) {
      if (!is_int(inst.from))
        return error("expected an integer operand type, found {}", info(inst.from).name);
      if (inst.lanes > 8 * size_of(inst.from))
        return error("expected at most {} lanes from {}, found {}", 8 * size_of(inst.from),
                     info(inst.from).name, inst.lanes);
    }
    return {};
  }

  Result<void> verify_attribute(const Inst& inst, const ShapeInfo& shape) const {
    const Shape kind = info(inst.op).shape;
    switch (shape.attribute) {
      case Attribute::None:
      case Attribute::Bits:
      case Attribute::Number:
      case Attribute::Lane:  // with the operand
        return {};
      case Attribute::Pool:
        return below(inst.imm, function_.pool.size(), "pool entry");
      case Attribute::String:
        return below(inst.imm, function_.strings.size(), "string");
      case Attribute::Variable:
        if (inst.lanes != function_.simd)
          return error("expected {} lanes, found {}", function_.simd, inst.lanes);
        return below(inst.imm, function_.mask_variables, "mask variable");
      case Attribute::Group:
        if (inst.imm == 0 || inst.imm > inst.lanes || inst.lanes % inst.imm != 0)
          return error("expected groups that divide {} lanes, found {}", inst.lanes, inst.imm);
        return {};
      case Attribute::Flag:
        if (inst.imm >= flag_bits || inst.lanes > flag_bits - inst.imm)
          return error("expected flag bits below {}, found {} to {}", flag_bits, inst.imm,
                       inst.imm + inst.lanes - 1);
        return {};
      case Attribute::Region:
        return verify_region(inst.region, inst.lanes, size_of(inst.type), kind == Shape::RegWrite);
      case Attribute::Mem:
        return verify_mem(inst, kind);
      case Attribute::Targets:
        if (auto r = verify_target(inst.targets.taken); !r) return r;
        if (shape.targets == 2) return verify_target(inst.targets.fallthrough);
        if (inst.targets.fallthrough != no_block) return error("expected one target, found two");
        return {};
    }
    return {};
  }

  static Result<void> below(std::uint64_t index, std::uint64_t count, std::string_view what) {
    if (index < count) return {};
    return error("expected a {} below {}, found {}", what, count, index);
  }

  Result<void> verify_target(BlockId target) const {
    if (target < function_.blocks.size()) return {};
    return error("expected a block below b{}, found b{}", function_.blocks.size(), target);
  }

  Result<void> verify_region(const Region& region, unsigned lanes, unsigned bytes, bool written) const {
    if (region.width == 0) return error("expected a region width of at least 1, found 0");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned at = region.byte_of(lane, bytes);
      if (at + bytes > function_.file_bytes)
        return error("lane {} of the region lies at bytes {} to {}, beyond the register file of {} bytes",
                     lane, at, at + bytes - 1, function_.file_bytes);
      if (!written) continue;
      for (unsigned before = 0; before < lane; ++before) {
        const unsigned other = region.byte_of(before, bytes);
        if (at < other + bytes && other < at + bytes)
          return error("lanes {} and {} of the written region overlap", before, lane);
      }
    }
    return {};
  }

  Result<void> verify_mem(const Inst& inst, Shape shape) const {
    const MemRef& mem = inst.mem;
    if (static_cast<unsigned>(mem.space) > static_cast<unsigned>(MemSpace::Scratch))
      return error("expected a memory space, found {}", static_cast<unsigned>(mem.space));
    if (static_cast<std::size_t>(mem.atomic) >= mem::atomic_table.size())
      return error("expected an atomic operation, found {}", static_cast<unsigned>(mem.atomic));
    if (inst.from != address_type(mem.space))
      return error("expected {} addresses, found {}", info(address_type(mem.space)).name,
                   info(inst.from).name);
    const bool vector = shape == Shape::Load || shape == Shape::Store;
    if (vector ? mem.components == 0 : mem.components != 1)
      return error("expected {}, found components {:#x}", vector ? "components" : "one component",
                   mem.components);
    if (shape == Shape::Atomic && size_of(inst.type) < 4)
      return error("expected elements of 4 or 8 bytes, found {}", info(inst.type).name);
    return {};
  }

  Result<void> verify_operands(const Inst& inst, const ShapeInfo& shape) const {
    const Signature wanted = signature(inst);
    if (wanted.arg_count > max_args)
      return error("at most {} operands fit, the op takes {}", max_args, wanted.arg_count);
    if (inst.arg_count != wanted.arg_count)
      return error("expected {} operands, found {}", wanted.arg_count, inst.arg_count);
    for (unsigned k = 0; k < inst.arg_count; ++k)
      if (auto r = verify_use(inst.args[k], wanted.args[k], "operand"); !r) return r;
    if (inst.mask != no_value) {
      if (!shape.maskable) return error("expected no mask");
      if (auto r = verify_use(inst.mask, {Type::m, inst.lanes}, "mask"); !r) return r;
    }
    return verify_lane_counts(inst);
  }

  Result<void> verify_use(ValueId value, ValueInfo wanted, std::string_view what) const {
    if (value >= function_.values.size() || defined_in_[value] != block_)
      return error("{} %{} is not defined before in this block", what, value);
    const ValueInfo found = function_.values[value];
    if (found.type != wanted.type || (wanted.lanes != 0 && found.lanes != wanted.lanes))
      return error("expected {} of {}, found %{} of {}", what, text(wanted), value, text(found));
    return {};
  }

  /// Rules between the lanes of operands and results.
  Result<void> verify_lane_counts(const Inst& inst) const {
    const auto lanes = [&](unsigned k) { return unsigned{function_.values[inst.args[k]].lanes}; };
    switch (info(inst.op).shape) {
      case Shape::Slice:
        if (inst.imm >= max_lanes || inst.imm + inst.lanes > lanes(0))
          return error("expected lanes {} to {} in an operand of {} lanes", inst.imm,
                       inst.imm + inst.lanes - 1, lanes(0));
        return {};
      case Shape::Concat:
        if (lanes(0) + lanes(1) != inst.lanes)
          return error("expected {} lanes, found operands of {} and {}", inst.lanes, lanes(0), lanes(1));
        return {};
      case Shape::MaskToInt:
        if (lanes(0) > 8 * size_of(inst.type))
          return error("expected a mask of at most {} lanes, found {}", 8 * size_of(inst.type), lanes(0));
        return {};
      default:
        return {};
    }
  }

  Result<void> define_results(const Inst& inst) {
    const Signature wanted = signature(inst);
    if (inst.result_count < wanted.min_results || inst.result_count > wanted.max_results)
      return error("expected {} results, found {}", wanted.max_results, inst.result_count);
    for (unsigned k = 0; k < inst.result_count; ++k) {
      const std::uint64_t value = std::uint64_t{inst.result} + k;
      if (value >= function_.values.size())
        return error("result %{} is beyond the {} values", value, function_.values.size());
      if (defined_in_[value] != no_block)
        return error("result %{} is already defined in b{}", value, defined_in_[value]);
      const ValueInfo found = function_.values[value];
      if (found.type != wanted.result.type || found.lanes != wanted.result.lanes)
        return error("expected result %{} of {}, found {}", value, text(wanted.result), text(found));
      defined_in_[value] = block_;
    }
    return {};
  }

  const Function& function_;
  std::vector<BlockId> defined_in_;  // by value
  BlockId block_ = 0;
};

}  // namespace

Result<void> verify(const Function& function) { return Verifier(function).verify_function(); }

}  // namespace eum::ir
