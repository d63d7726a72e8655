#pragma once
// What can be computed on fewer bits although it consists of ops that need more: means, limited sums and
// extended fields, and what the passes that look for them know of a block's values.
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "jit/passes/rewrite.hpp"
#include "jit/passes/value_ranges.hpp"

namespace eum::jit {

class NarrowForms {
 protected:
  explicit NarrowForms(ir::Function& function)
      : function_(function), out_(function), ranges_(function, out_), is_wide_(function.values.size()) {}

  static unsigned bits_of(ir::Type type) { return 8 * ir::size_of(type); }
  ir::Type type_of(ir::ValueId value) const { return function_.values[value].type; }
  ir::ValueId arg(const ir::Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  /// Of so many bits as are looked for.
  ir::Type type(bool is_signed = false) const { return ir::int_type(width_ / 8, is_signed); }
  /// What defines a value, or what was there before it was narrowed.
  const ir::Inst* definition(ir::ValueId value) const { return out_.definition(before(value)); }
  ir::ValueId before(ir::ValueId value) const;
  bool is_wide(ir::ValueId value) const { return value >= is_wide_.size() || is_wide_[value]; }

  /// By which constant, less than the width, a shift is.
  std::optional<unsigned> shift_of(const ir::Inst& inst) const;
  /// Whether the first operand is a number that fits the width.
  bool fits(const ir::Inst& inst, bool is_signed) const;
  /// Whether a shift to the right is that of such a number.
  bool shifts_number(const ir::Inst& inst) const {
    return fits(inst, false) || (inst.op == ir::Op::asr && fits(inst, true));
  }
  /// Of which signedness all of the numbers fit the width; none: of neither.
  std::optional<bool> common_sign(std::span<const ir::ValueId> numbers) const;

  /// (a + b) >> 1 or, rounded up, (a + b + 1) >> 1 of numbers that fit, although their sum may not.
  struct Mean {
    ir::ValueId a, b;
    bool is_rounded_up, is_signed;
  };
  std::optional<Mean> mean_of(const ir::Inst& shift) const;
  /// The same for half of a sum.
  std::optional<Mean> mean_of_sum(ir::ValueId sum) const;
  /// A sum or difference of numbers that fit, limited to what the width holds.
  struct Clamped {
    ir::Op op;
    ir::ValueId a, b;
    bool is_signed;
  };
  std::optional<Clamped> clamped_of(const ir::Inst& limit) const;
  /// A comparison, in 16 bits, of numbers that fit with one of 32 bits that is the same in all lanes:
  /// whatever is beyond their range may as well be next to it.
  struct Limited {
    unsigned operand;  ///< the index of that number
    ir::ValueId number;
    Range limits;
  };
  std::optional<Limited> limited_of(const ir::Inst& compare) const;
  /// The number, one lane of the comparison's type, within its limits.
  ir::ValueId limited(const Limited& limit, const ir::Inst& compare);
  /// The lowest bits of a value, extended by two shifts.
  struct Field {
    ir::ValueId value;
    unsigned bits;
  };
  std::optional<Field> field_of(const ir::Inst& shift) const;

  ir::Function& function_;
  NewBlock out_;
  ValueRanges ranges_;
  std::vector<bool> is_wide_;                  ///< values of which all bits are needed
  std::map<ir::ValueId, ir::ValueId> before_;  ///< of a value that was narrowed: what it replaces
  unsigned width_ = 0;                         ///< bits

 private:
  /// What has been limited: from, the comparison's type, and between what. Values belong to one block.
  std::map<std::tuple<ir::ValueId, ir::Type, std::int64_t, std::int64_t>, ir::ValueId> limited_;
  /// What the value was before conversions that preserve it.
  ir::ValueId same_number(ir::ValueId value) const;
  /// Before a cast to as many bits.
  ir::ValueId same_bits(ir::ValueId value) const;
};

}  // namespace eum::jit
