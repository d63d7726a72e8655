// The rules, instruction by instruction.
#include "frontend/ir/verifier.hpp"

#include <bit>
#include <vector>

#include "frontend/ir/attribute.hpp"
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
    if (function_.indirect_bytes > function_.file_bytes)
      return error("expected register addresses within the register file of {} bytes, found {}",
                   function_.file_bytes, function_.indirect_bytes);
    if (!std::has_single_bit(function_.slot_bytes) || function_.slot_bytes < 8 || function_.slot_bytes > 4096)
      return error("expected registers of 8 to 4096 bytes, a power of two, found {}", function_.slot_bytes);
    if (function_.mask_variables < 1 || function_.mask_variables > max_mask_variables)
      return error("expected 1 to {} mask variables, found {}", max_mask_variables, function_.mask_variables);
    if (function_.flag_bits > max_flag_bits || function_.flag_bits % 32 != 0)
      return error("expected at most {} flag bits, a multiple of 32, found {}", max_flag_bits,
                   function_.flag_bits);
    if (function_.park_ips.size() >= function_.mask_variables)
      return error("expected at most {} places where channels are parked, found {}",
                   function_.mask_variables - 1, function_.park_ips.size());
    if (function_.blocks.empty()) return error("expected at least one block, found none");
    return {};
  }

  Result<void> verify_inst(const Inst& inst, bool last) {
    const ShapeInfo& shape = shape_of(inst.op);
    if (is_terminator(inst.op) != last)
      return last ? error("expected a terminator at the end of the block")
                  : error("a terminator before the end of the block");
    if (inst.first_arg + std::size_t{inst.arg_count} > function_.operands.size())
      return error("expected operands below {}, found {} from {}", function_.operands.size(), inst.arg_count,
                   inst.first_arg);
    if (auto r = verify_type(inst, info(inst.op), shape); !r) return r;
    if ((shape.has_memory() && inst.imm >= function_.accesses.size()) ||
        (shape.has_image() && inst.imm >= function_.images.size()))
      return info(shape.attribute).verify(function_, inst);
    if (auto r = verify_operands(inst, shape); !r) return r;
    if (auto r = info(shape.attribute).verify(function_, inst); !r) return r;
    return define_results(inst);
  }

  Result<void> verify_type(const Inst& inst, const OpInfo& row, const ShapeInfo& shape) const {
    if (!shape.typed()) {
      if (inst.type != Type::u32 || inst.lanes != 1)
        return error("expected no type (u32x1), found {}", text({inst.type, inst.lanes}));
      return {};
    }
    if (inst.lanes < 1 || inst.lanes > max_lanes)
      return error("expected 1 to {} lanes, found {}", max_lanes, inst.lanes);
    if (!takes(row.types, inst.type))
      return error("{} does not take the type {}", op_name(inst.op), info(inst.type).name);
    if (shape.lanes == Lanes::One && inst.lanes != 1) return error("expected 1 lane, found {}", inst.lanes);
    if (shape.has_from() && shape.lanewise()) {
      if (!takes(row.types, inst.from))
        return error("{} does not take the type {}", op_name(inst.op), info(inst.from).name);
      if (inst.op == Op::bitcast && size_of(inst.type) != size_of(inst.from))
        return error("expected types of the same size, found {} and {}", info(inst.type).name,
                     info(inst.from).name);
    }
    return {};
  }

  Result<void> verify_operands(const Inst& inst, const ShapeInfo& shape) const {
    const Signature wanted(function_, inst);
    if (inst.arg_count != wanted.operands())
      return error("expected {} operands, found {}", wanted.operands(), inst.arg_count);
    for (unsigned k = 0; k < inst.arg_count; ++k)
      if (auto r = verify_use(function_.arg(inst, k), wanted.operand(k), "operand"); !r) return r;
    if (inst.mask != no_value) {
      if (!shape.maskable()) return error("expected no mask");
      if (auto r = verify_use(inst.mask, {Type::m, inst.lanes}, "mask"); !r) return r;
    }
    return {};
  }

  Result<void> verify_use(ValueId value, ValueInfo wanted, std::string_view what) const {
    if (value >= function_.values.size() || defined_in_[value] != block_)
      return error("{} %{} is not defined before in this block", what, value);
    const ValueInfo found = function_.values[value];
    if (found.type != wanted.type || (wanted.lanes != 0 && found.lanes != wanted.lanes))
      return error("expected {} of {}, found %{} of {}", what, text(wanted), value, text(found));
    return {};
  }

  Result<void> define_results(const Inst& inst) {
    const Signature wanted(function_, inst);
    if (inst.result_count < wanted.min_results() || inst.result_count > wanted.max_results())
      return error("expected {} results, found {}", wanted.max_results(), inst.result_count);
    for (unsigned k = 0; k < inst.result_count; ++k) {
      const std::uint64_t value = std::uint64_t{inst.result} + k;
      if (value >= function_.values.size())
        return error("result %{} is beyond the {} values", value, function_.values.size());
      if (defined_in_[value] != no_block)
        return error("result %{} is already defined in b{}", value, defined_in_[value]);
      const ValueInfo found = function_.values[value], expected = wanted.result(k);
      if (found.type != expected.type || found.lanes != expected.lanes)
        return error("expected result %{} of {}, found {}", value, text(expected), text(found));
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
