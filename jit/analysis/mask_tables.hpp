#pragma once
// MaskTables: whether masks contain others, as Boolean functions of a few masks of which nothing is known.
#include <array>
#include <cstdint>
#include <optional>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// Truth tables of masks: row r of 64 tells whether a lane is in the mask if, for each k, the lane is in mask
/// k of those that are not computed from others just where bit k of r is set. All tables since begin() agree
/// about those, of which there are at most six.
class MaskTables {
 public:
  using Table = std::uint64_t;
  static constexpr Table all = ~Table{0};

  void begin() { used_ = 0; }
  /// The table of lanes [first, first + lanes) of a mask; nothing: it depends on too much. `definition`
  /// gives the instruction that defines a value, or null.
  template <class Definition>
  std::optional<Table> of(const ir::Function& function, ir::ValueId mask, unsigned first, unsigned lanes,
                          Definition definition) {
    steps_ = 0;
    return of(function, mask, first, lanes, definition, all, 0);
  }

 private:
  struct Atom {
    ir::ValueId mask;
    unsigned first;
    bool operator==(const Atom&) const = default;
  };
  static constexpr unsigned most_atoms = 6, most_depth = 16, most_steps = 64;

  /// Right in the rows of `wanted`. What does not matter for these is not looked at: a flag written under a
  /// mask depends on what it was before, but not where that mask holds.
  template <class Definition>
  std::optional<Table> of(const ir::Function& function, ir::ValueId mask, unsigned first, unsigned lanes,
                          const Definition& definition, Table wanted, unsigned depth) {
    if (wanted == 0) return 0;
    if (depth == most_depth || ++steps_ > most_steps) return std::nullopt;
    const ir::Inst* inst = definition(mask);
    if (!inst) return atom({mask, first});
    const auto arg_in = [&](unsigned k, unsigned from, Table rows) {
      return of(function, function.arg(*inst, k), from, lanes, definition, rows, depth + 1);
    };
    const auto arg = [&](unsigned k, unsigned from) { return arg_in(k, from, wanted); };
    switch (inst->op) {
      case ir::Op::constant: {
        const std::uint64_t each = ir::lane_mask(lanes), bits = inst->imm >> first & each;
        if (bits == 0 || bits == each) return bits == 0 ? 0 : all;
        return atom({mask, first});
      }
      case ir::Op::slice:
        return arg(0, first + static_cast<unsigned>(inst->imm));
      case ir::Op::concat: {
        const unsigned low = function.values[function.arg(*inst, 0)].lanes;
        if (first + lanes <= low) return arg(0, first);
        return first >= low ? arg(1, first - low) : atom({mask, first});
      }
      case ir::Op::not_: {
        const auto a = arg(0, first);
        return a ? std::optional(~*a) : std::nullopt;
      }
      case ir::Op::and_:
      case ir::Op::or_:
      case ir::Op::andn: {
        // One of them restricts what matters of the other: mostly the simple one, or what a condition was
        // applied to.
        const std::array complex{is_computed(definition(function.arg(*inst, 0))),
                                 is_computed(definition(function.arg(*inst, 1)))};
        const unsigned usual = inst->op == ir::Op::andn ? 1 : 0;
        const unsigned one = complex[usual] && !complex[1 - usual] ? 1 - usual : usual;
        const auto sign = [&](unsigned k) { return inst->op == ir::Op::andn && k == 0 ? all : Table{0}; };
        auto a = arg(one, first);
        if (!a) return std::nullopt;
        *a ^= sign(one);
        auto b = arg_in(1 - one, first, wanted & (inst->op == ir::Op::or_ ? ~*a : *a));
        if (!b) return std::nullopt;
        *b ^= sign(1 - one);
        return inst->op == ir::Op::or_ ? *a | *b : *a & *b;
      }
      default:
        return atom({mask, first});
    }
  }
  static bool is_computed(const ir::Inst* inst) {
    if (!inst) return false;
    return inst->op == ir::Op::and_ || inst->op == ir::Op::or_ || inst->op == ir::Op::andn ||
           inst->op == ir::Op::not_ || inst->op == ir::Op::concat;
  }
  std::optional<Table> atom(const Atom& one) {
    constexpr std::array<Table, most_atoms> tables{0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                                   0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                                   0xffff0000ffff0000, 0xffffffff00000000};
    for (unsigned k = 0; k < used_; ++k)
      if (atoms_[k] == one) return tables[k];
    if (used_ == most_atoms) return std::nullopt;
    atoms_[used_] = one;
    return tables[used_++];
  }

  std::array<Atom, most_atoms> atoms_{};
  unsigned used_ = 0, steps_ = 0;
};

}  // namespace eum::jit
