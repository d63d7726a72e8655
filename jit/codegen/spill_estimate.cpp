#include "jit/codegen/spill_estimate.hpp"

#include <algorithm>
#include <utility>

namespace eum::jit::codegen {

using ir::no_value;
using ir::Op;
using ir::ValueId;

namespace {

/// A register that the emission of an op may need for itself.
constexpr unsigned scratch = 1;

}  // namespace

SpillEstimate::SpillEstimate(const ir::Function& function, const Target& target)
    : function_(function),
      target_(target),
      vectors_(function.values.size()),
      used_behind_(function.values.size()),
      values_(function.values.size()) {
  std::ranges::transform(function.values, vectors_.begin(), [&](const ir::ValueInfo& value) {
    const unsigned bytes = value.lanes == 1 ? 0 : value.lanes * ir::size_of(value.type);  // 0 for masks
    return static_cast<std::uint8_t>((bytes + target.vector_bytes - 1) / target.vector_bytes);
  });
  // Constants are operands in memory.
  std::vector<bool> is_constant(function.values.size());
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      const bool repeats = inst.op == Op::splat && is_constant[function.arg(inst, 0)];
      if (inst.op != Op::constant && inst.op != Op::vconst && !repeats) continue;
      is_constant[inst.result] = true;
      vectors_[inst.result] = 0;
    }
}

void SpillEstimate::note_uses(std::span<const CodeInst> insts) {
  for (const CodeInst& inst : insts)
    for (const ValueId arg : inst.args) used_behind_[arg] = block_;
}

void SpillEstimate::begin(std::span<const CodeInst> insts) {
  ++run_;
  insts_ = insts;
  pieces_.clear();
  pieces_of_values_.clear();
  is_free_.assign(insts.size(), 0);
  for (std::size_t i = 0; i < insts.size(); ++i) {
    const CodeInst& inst = insts[i];
    for (const ValueId arg : inst.args)
      if (values_[arg].run != run_) add(arg, vectors_[arg]);
    if (shares(inst))
      is_free_[i] = 1;
    else
      define(inst);
  }
}

void SpillEstimate::define(const CodeInst& inst) {
  for (unsigned k = 0; k < inst.result_count; ++k) {
    const ValueId result = inst.result + k;
    const bool is_mask = ir::is_mask(function_.values[result].type);
    const unsigned count = is_mask ? mask_vectors(inst) : vectors_[result];
    if (inst.op == Op::splat && count != 0) {
      add(result, 1);
      for (unsigned c = 1; c < count; ++c) take(result, result, 0, 1);
    } else {
      add(result, count, inst.op == Op::reg_read);
    }
  }
}

/// Whether the result consists of pieces of the operands, which it then gets.
bool SpillEstimate::shares(const CodeInst& inst) {
  if (inst.result_count != 1 || inst.args.empty() || inst.lanes == 1) return false;
  const std::size_t all = pieces_of(inst.args[0]).size(), own = vectors_[inst.result];
  switch (inst.op) {
    case Op::bitcast:
    case Op::recast:
      if (all != own) return false;
      take(inst.result, inst.args[0], 0, all);
      return true;
    case Op::slice: {
      const unsigned from = function_.values[inst.args[0]].lanes;
      const std::size_t count = all * inst.lanes / from, first = all * inst.imm / from;
      if (count * from != all * inst.lanes || first * from != all * inst.imm) return false;
      take(inst.result, inst.args[0], first, count);
      return true;
    }
    case Op::concat: {
      const std::size_t rest = pieces_of(inst.args[1]).size();
      if (!ir::is_mask(function_.values[inst.result].type) && all + rest != own) return false;
      take(inst.result, inst.args[0], 0, all);
      take(inst.result, inst.args[1], 0, rest);
      return true;
    }
    default:
      return false;
  }
}

/// Of a mask as lanes of vectors.
unsigned SpillEstimate::mask_vectors(const CodeInst& inst) const {
  if (target_.mask_registers != 0) return 0;
  if (ir::info(inst.op).shape == ir::Shape::Compare)
    return (inst.lanes * ir::size_of(inst.type) + target_.vector_bytes - 1) / target_.vector_bytes;
  std::size_t most = 0;
  if (ir::is_mask(inst.type))
    for (const ValueId arg : inst.args) most = std::max(most, pieces_of(arg).size());
  return static_cast<unsigned>(most);
}

void SpillEstimate::add(ValueId value, unsigned count, bool is_read) {
  const auto first = static_cast<std::uint32_t>(pieces_of_values_.size());
  values_[value] = {run_, first, count};
  const bool used_behind = used_behind_[value] == block_;
  for (; count > 0; --count) {
    pieces_of_values_.push_back(static_cast<std::uint32_t>(pieces_.size()));
    pieces_.push_back({.used_behind = used_behind, .is_read = is_read});
  }
}

/// Appends pieces of another value, or of itself, to those of the value.
void SpillEstimate::take(ValueId value, ValueId of, std::size_t first, std::size_t count) {
  if (values_[value].run != run_) add(value, 0);
  for (std::size_t k = first; k < first + count; ++k) {
    const std::uint32_t piece = pieces_of(of)[k];
    pieces_of_values_.push_back(piece);
    pieces_[piece].used_behind |= used_behind_[value] == block_;
  }
  values_[value].count += static_cast<std::uint32_t>(count);
}

std::span<const std::uint32_t> SpillEstimate::pieces_of(ValueId value) const {
  const Pieces& pieces = values_[value];
  return std::span(pieces_of_values_).subspan(pieces.first, pieces.run == run_ ? pieces.count : 0);
}

unsigned SpillEstimate::moves(std::span<const std::uint32_t> order) {
  find_uses(order);
  held_.clear();
  moves_ = 0;
  for (std::uint32_t at = 0; at < order.size(); ++at)
    if (is_free_[order[at]] == 0) step(insts_[order[at]], at);
  return moves_;
}

void SpillEstimate::find_uses(std::span<const std::uint32_t> order) {
  end_ = static_cast<std::uint32_t>(order.size());
  for (Piece& piece : pieces_) {
    piece.uses = piece.next = 0;
    piece.used_at = none;
  }
  const auto each_use = [&](auto visit) {
    for (std::uint32_t at = 0; at < end_; ++at)
      if (is_free_[order[at]] == 0)
        for (const ValueId arg : insts_[order[at]].args)
          for (const std::uint32_t piece : pieces_of(arg)) visit(pieces_[piece], at);
  };
  each_use([](Piece& piece, std::uint32_t) { ++piece.uses; });
  std::uint32_t total = 0;
  for (Piece& piece : pieces_) {
    piece.first_use = total;
    total += piece.uses;
    piece.uses = 0;
  }
  uses_.resize(total);
  each_use([&](Piece& piece, std::uint32_t at) { uses_[piece.first_use + piece.uses++] = at; });
}

/// Ops on all lanes alike are emitted vector by vector.
void SpillEstimate::step(const CodeInst& inst, std::uint32_t at) {
  std::size_t most = 0;
  for (const ValueId arg : inst.args) most = std::max(most, pieces_of(arg).size());
  const auto results = inst.result_count == 0 ? std::span<const std::uint32_t>() : pieces_of(inst.result);
  const bool by_vector = inst.result_count == 1 && (most == 0 || results.size() == most);
  for (std::size_t k = 0; k < most; ++k) {
    for (const ValueId arg : inst.args)
      if (const auto pieces = pieces_of(arg); k < pieces.size()) use(pieces[k], at);
    if (by_vector) hold(results[k], at, false);
  }
  if (by_vector && most != 0) return;
  for (unsigned k = 0; k < inst.result_count; ++k)
    for (const std::uint32_t piece : pieces_of(inst.result + k)) hold(piece, at, pieces_[piece].is_read);
}

/// Once an instruction: operands may share a piece.
void SpillEstimate::use(std::uint32_t piece, std::uint32_t at) {
  if (std::exchange(pieces_[piece].used_at, at) == at) return;
  const auto found = std::ranges::find(held_, piece, &Held::piece);
  if (found == held_.end()) {
    ++moves_;
    return hold(piece, at, true);
  }
  found->next_use = next_use(piece, at);
  if (found->next_use != none) return;
  *found = held_.back();
  held_.pop_back();
}

void SpillEstimate::hold(std::uint32_t piece, std::uint32_t at, bool in_memory) {
  const std::uint32_t next = next_use(piece, at);
  if (next == none) return;
  held_.push_back({piece, next, in_memory});
  if (held_.size() <= target_.vector_registers - scratch) return;
  const auto last = std::ranges::max_element(held_, {}, &Held::next_use);
  if (!last->in_memory) ++moves_;
  *last = held_.back();
  held_.pop_back();
}

/// Behind place `at`, from which on it is asked for later ones only.
std::uint32_t SpillEstimate::next_use(std::uint32_t number, std::uint32_t at) {
  Piece& piece = pieces_[number];
  while (piece.next < piece.uses && uses_[piece.first_use + piece.next] <= at) ++piece.next;
  if (piece.next < piece.uses) return uses_[piece.first_use + piece.next];
  return piece.used_behind ? end_ : none;
}

}  // namespace eum::jit::codegen
