// Registers that are written under several masks and read where one of them, or another, holds: channels that
// took one side of an `if` and those that took the other, or a value that a predicated instruction changes in
// some channels. Such a read selects among the values that were written,
//   write r, %a ? %p; write r, %b ? %q; %r = read r ? %p|q   ->   %r = select %q, %b, %a
// if these make up all of its lanes: what the register had before them is then not needed. What was selected
// is written again, in place of them.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "jit/analysis/granule_table.hpp"
#include "jit/analysis/mask_tables.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class MaskedWrites {
 public:
  explicit MaskedWrites(Function& function)
      : function_(function), out_(function), writes_(function), chains_(function), seen_(function) {}

  static bool is_masked_write(const Inst& inst) {
    return inst.op == Op::reg_write && inst.mask != no_value && is_region(inst);
  }

  void run(Block& block) {
    if (!may_select(block)) return;
    out_.clear();
    chains_.begin_block();
    changes_ = false;
    for (Inst inst : block.insts) {
      same_.resolve(function_, inst);
      ++clock_;
      if (!is_region(inst)) {
        writes_.note(inst, clock_);
        out_.keep(inst);
      } else if (inst.op == Op::reg_write) {
        write(inst);
      } else {
        read(inst);
      }
    }
    if (changes_) out_.replace(block);
  }

 private:
  /// What the lanes of a mask hold; all of them, if it is no_value.
  struct Known {
    ValueId value, mask;
  };
  /// What is known of a region, the latest last.
  struct Chain {
    static constexpr std::size_t most = 6;

    Inst access{};            ///< of the region
    WriteTimes::Time time{};  ///< of the latest write or read of it
    std::vector<Known> known{};
  };

  /// Whether a masked read begins where the block has written or read under a mask before.
  bool may_select(const Block& block) {
    seen_.begin_block();
    for (const Inst& inst : block.insts) {
      if (inst.mask == no_value || !is_region(inst)) continue;
      const bool is_seen = seen_.find(inst) != nullptr;
      if (inst.op == Op::reg_read && is_seen) return true;
      if (!is_seen) seen_.add(inst);
    }
    return false;
  }

  static bool is_region(const Inst& inst) {
    return (inst.op == Op::reg_read || inst.op == Op::reg_write) && inst.lanes > 1 &&
           inst.region.stride(inst.lanes) > 0;
  }
  static bool is_same_region(const Inst& a, const Inst& b) {
    return a.lanes == b.lanes && size_of(a.type) == size_of(b.type) && a.region.offset == b.region.offset &&
           a.region.stride(a.lanes) == b.region.stride(b.lanes);
  }

  /// Whether the lanes of a read are the low parts of those of another access.
  static bool is_low_part(const Inst& read, const Inst& of) {
    const auto bytes = [](const Inst& inst) {
      return inst.region.stride(inst.lanes) * static_cast<int>(size_of(inst.type));
    };
    return is_int(read.type) && is_int(of.type) && size_of(read.type) < size_of(of.type) &&
           read.lanes == of.lanes && read.region.offset == of.region.offset && bytes(read) == bytes(of);
  }

  /// What is known of the region of an access, if it still holds; null: nothing is.
  Chain* chain_of(const Inst& access) {
    Chain* chain = chains_.find(access);
    return chain && is_same_region(chain->access, access) && writes_.is_kept(access, chain->time) ? chain
                                                                                                  : nullptr;
  }
  /// That of a region with wider lanes.
  Chain* whole_of(const Inst& read) {
    Chain* chain = chains_.find(read);
    return chain && is_low_part(read, chain->access) && writes_.is_kept(chain->access, chain->time) ? chain
                                                                                                    : nullptr;
  }
  void remember(const Inst& access, Chain* chain, ValueId value) {
    if (!chain) {
      chain = &chains_.add(access);
      chain->access = access;
    }
    if (access.mask == no_value) chain->known.clear();
    if (chain->known.size() == Chain::most) chain->known.erase(chain->known.begin());
    chain->known.push_back({value, access.mask});
    chain->time = clock_;
  }

  void write(const Inst& inst) {
    Chain* chain = chain_of(inst);
    writes_.note(inst, clock_);
    remember(inst, chain, function_.arg(inst, 0));
    out_.keep(inst);
  }

  void read(const Inst& inst) {
    Chain* chain = chain_of(inst);
    if (chain && inst.mask != no_value && select(inst, *chain)) return;
    Chain* whole = inst.mask != no_value ? whole_of(inst) : nullptr;
    if (whole && select(inst, *whole)) return;
    // What is known of another region that begins here holds after a read as well.
    const Chain* other = chain ? nullptr : chains_.find(inst);
    if (!other || !writes_.is_kept(other->access, other->time)) remember(inst, chain, inst.result);
    out_.keep(inst);
  }

  bool select(const Inst& read, Chain& chain) {
    const std::optional<unsigned> parts = find_parts(read, chain.known);
    const bool is_part = is_low_part(read, chain.access);
    // wide_ops joins the reads of both halves of qwords.
    if (!parts || (is_part && *parts == 1 && size_of(chain.access.type) == 8)) return false;
    changes_ = true;
    const Type type = is_part ? chain.access.type : read.type;
    const auto cast = [&](const Known& known) {
      return out_.converted(Op::bitcast, type, known.value, read.guest_ip);
    };
    ValueId value = cast(parts_[*parts - 1]);
    for (unsigned k = *parts - 1; k-- > 0;)
      value = out_.append(make_op(Op::select, type, read.lanes, read.guest_ip),
                          {parts_[k].mask, cast(parts_[k]), value});
    same_.add(read.result, is_part ? out_.converted(Op::convert, read.type, value, read.guest_ip) : value);
    if (*parts == 1) return true;
    Inst write = make_op(Op::reg_write, type, read.lanes, read.guest_ip);
    write.region = chain.access.region;
    write.mask = read.mask;
    write.result_count = 0;
    function_.set_args(write, {value});
    writes_.note(write, clock_);
    remember(write, &chain, value);
    out_.keep(write);
    return true;
  }

  /// Finds the values that make up the lanes of a read, the latest first in parts_; returns how many they
  /// are.
  std::optional<unsigned> find_parts(const Inst& read, std::span<const Known> known) {
    if (!known.empty() && (known.back().mask == no_value || is_within(read.mask, known.back().mask))) {
      parts_.front() = known.back();
      return 1;
    }
    tables_.begin();
    const auto table = [&](ValueId mask) {
      return tables_.of(function_, mask, 0, read.lanes,
                        [&](ValueId value) { return out_.definition(value); });
    };
    const auto wanted = table(read.mask);
    if (!wanted) return std::nullopt;
    MaskTables::Table missing = *wanted;
    unsigned parts = 0;
    for (std::size_t k = known.size(); k-- > 0 && missing != 0;) {
      const auto own = known[k].mask == no_value ? MaskTables::all : table(known[k].mask);
      if (!own) return std::nullopt;
      if ((missing & *own) == 0) continue;
      if (parts == parts_.size()) return std::nullopt;
      parts_[parts++] = known[k];
      missing &= ~*own;
    }
    return missing == 0 && parts != 0 ? std::optional(parts) : std::nullopt;
  }

  /// Whether the mask was made of the other by conditions, of branches one within the other: of any number,
  /// which truth tables are not.
  bool is_within(ValueId mask, ValueId other) const {
    const Inst *part = out_.definition(mask), *of = out_.definition(other);
    if (part && of && part->op == Op::slice && of->op == Op::slice && part->imm == of->imm)
      return is_within(function_.arg(*part, 0), function_.arg(*of, 0));
    unsigned steps = 0;
    return is_made_of(mask, other, steps);
  }
  bool is_made_of(ValueId mask, ValueId other, unsigned& steps) const {
    constexpr unsigned most_steps = 64;
    if (mask == other) return true;
    const Inst* made = out_.definition(mask);
    if (!made || (made->op != Op::and_ && made->op != Op::andn) || ++steps > most_steps) return false;
    return is_made_of(function_.arg(*made, 1), other, steps) ||
           (made->op == Op::and_ && is_made_of(function_.arg(*made, 0), other, steps));
  }

  Function& function_;
  NewBlock out_;
  SameValues same_;
  WriteTimes writes_;
  MaskTables tables_;
  GranuleTable<Chain> chains_;
  struct Seen {};
  GranuleTable<Seen> seen_;  // where masked accesses begin
  std::array<Known, 4> parts_{};
  WriteTimes::Time clock_ = 0;
  bool changes_ = false;
};

}  // namespace

void masked_writes(Function& function) {
  run_on_blocks_with<MaskedWrites>(function, MaskedWrites::is_masked_write);
}

void masked_writes(Function& function, BlockId block) { MaskedWrites(function).run(function.blocks[block]); }

}  // namespace eum::jit
