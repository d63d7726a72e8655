// Addresses of 64 bits in each lane that are a base plus distances of 32 bits become just that: half of the
// vectors, one bounds check of scalars where the distances are known, and the sums are not needed.
#include <array>
#include <optional>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::MemSpace;
using ir::Op;
using ir::Type;
using ir::ValueId;

/// base + (convert(distance) << shift), the base a sum of scalars.
struct Form {
  struct Term {
    ValueId scalar;  ///< one lane of 64 bits, or no_value: `bits`
    std::uint64_t bits;
    unsigned shift;
  };
  static constexpr std::size_t most_terms = 4;
  std::array<Term, most_terms> terms;
  std::size_t count = 0;
  ValueId distance = ir::no_value;
  Type type = Type::s32;  ///< of the distance: how it is widened
  unsigned shift = 0;
};

class Finder {
 public:
  explicit Finder(ir::Function& function)
      : function_(function), definitions_(function.values.size(), nowhere) {}

  void run(ir::Block& block) {
    bool any = false;
    for (const Inst& inst : block.insts) any |= candidate(inst);
    if (!any) return;
    out_.clear();
    for (Inst inst : block.insts) {
      if (candidate(inst)) rewrite(inst);
      append(inst);
    }
    block.insts.assign(out_.begin(), out_.end());
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr unsigned most_shift = 31, most_depth = 8;

  bool candidate(const Inst& inst) const {
    return (inst.op == Op::load || inst.op == Op::store) && inst.lanes % 8 == 0 &&
           function_.access(inst).space == MemSpace::A64;
  }

  void append(const Inst& inst) {
    for (unsigned k = 0; k < inst.result_count; ++k) {
      if (inst.result + k >= definitions_.size()) definitions_.resize(inst.result + k + 1, nowhere);
      definitions_[inst.result + k] = static_cast<std::uint32_t>(out_.size());
    }
    out_.push_back(inst);
  }
  const Inst* definition(ValueId value) const {
    if (value >= definitions_.size() || definitions_[value] >= out_.size()) return nullptr;
    const Inst& inst = out_[definitions_[value]];
    return inst.result == value ? &inst : nullptr;
  }

  /// The one constant that every lane of a value is.
  std::optional<std::uint64_t> constant(ValueId value) const {
    const Inst* inst = definition(value);
    if (inst == nullptr || inst->op != Op::constant) return std::nullopt;
    return inst->imm;
  }

  /// Adds value << shift to the form.
  bool add(Form& form, ValueId value, unsigned shift, unsigned depth) const {
    const Inst* inst = definition(value);
    if (inst == nullptr || depth == most_depth || shift > most_shift) return false;
    const auto arg = [&](unsigned k) { return function_.arg(*inst, k); };
    switch (inst->op) {
      case Op::constant:
        return add_term(form, {ir::no_value, inst->imm, shift});
      case Op::splat:
        return add_term(form, {arg(0), 0, shift});
      case Op::add:
        return add(form, arg(0), shift, depth + 1) && add(form, arg(1), shift, depth + 1);
      case Op::bitcast:
        return ir::is_int(inst->from) && add(form, arg(0), shift, depth + 1);
      case Op::shl: {
        const std::optional<std::uint64_t> by = constant(arg(1));
        return by && *by % 64 <= most_shift &&
               add(form, arg(0), shift + static_cast<unsigned>(*by % 64), depth + 1);
      }
      case Op::convert:
        if (ir::size_of(inst->from) == 8 && ir::is_int(inst->from))
          return add(form, arg(0), shift, depth + 1);
        if (form.distance != ir::no_value || (inst->from != Type::s32 && inst->from != Type::u32))
          return false;
        form.distance = arg(0);
        form.type = inst->from;
        form.shift = shift;
        return true;
      default:
        return false;
    }
  }
  static bool add_term(Form& form, const Form::Term& term) {
    if (form.count == Form::most_terms) return false;
    form.terms[form.count++] = term;
    return true;
  }

  ValueId define(Inst inst, std::initializer_list<ValueId> args) {
    inst.type = Type::u64;
    inst.lanes = 1;
    inst.result_count = 1;
    inst.result = function_.add_value(Type::u64, 1);
    function_.set_args(inst, args);
    append(inst);
    return inst.result;
  }
  ValueId constant_of(std::uint64_t bits, std::uint32_t ip) {
    Inst inst;
    inst.op = Op::constant;
    inst.imm = bits;
    inst.guest_ip = ip;
    return define(inst, {});
  }
  ValueId scalar_of(const Form::Term& term, std::uint32_t ip) {
    if (term.scalar == ir::no_value) return constant_of(term.bits << term.shift, ip);
    Inst inst;
    inst.guest_ip = ip;
    ValueId value = term.scalar;
    if (function_.values[value].type != Type::u64) {
      inst.op = Op::bitcast;
      inst.from = function_.values[value].type;
      value = define(inst, {value});
    }
    if (term.shift == 0) return value;
    inst.op = Op::shl;
    return define(inst, {value, constant_of(term.shift, ip)});
  }

  void rewrite(Inst& inst) {
    Form form;
    if (!add(form, function_.arg(inst, 0), 0, 0) || form.distance == ir::no_value) return;
    ValueId base = ir::no_value;
    for (std::size_t k = 0; k < form.count; ++k) {
      const ValueId term = scalar_of(form.terms[k], inst.guest_ip);
      if (base == ir::no_value) {
        base = term;
        continue;
      }
      Inst sum;
      sum.op = Op::add;
      sum.guest_ip = inst.guest_ip;
      base = define(sum, {base, term});
    }
    if (base == ir::no_value) base = constant_of(0, inst.guest_ip);
    std::vector<ValueId> args{base, form.distance};
    const auto old = function_.args(inst);
    args.insert(args.end(), old.begin() + 1, old.end());
    ir::MemoryAccess access = function_.access(inst);
    access.space = form.type == Type::s32 ? MemSpace::From : MemSpace::FromUnsigned;
    access.surface_is_operand = true;
    access.shift = static_cast<std::uint8_t>(form.shift);
    function_.set_access(inst, access);
    function_.set_args(inst, args);
  }

  ir::Function& function_;
  std::vector<std::uint32_t> definitions_;  ///< by value: in out_
  std::vector<Inst> out_;
};

}  // namespace

void distances(ir::Function& function) {
  Finder finder(function);
  for (ir::Block& block : function.blocks) finder.run(block);
}

}  // namespace eum::jit
