// Conversion of masks between their forms.
#include <algorithm>
#include <bit>

#include "jit/codegen/allocator.hpp"

namespace eum::jit::codegen {

using ir::ValueId;

void Masks::define_lanes(ValueId mask, unsigned width) {
  all_.values_[mask].mask_width = static_cast<std::uint8_t>(width);
  all_.values_[mask].signs_only = 0;
  all_.values_[mask].made_whole = 0;
  all_.values_[mask].of_bits = 0;
}

void Masks::keep_in_vectors(ValueId mask) { all_.values_[mask].in_vectors = true; }
bool Masks::in_vectors(ValueId mask) const { return all_.values_[mask].in_vectors; }

namespace {

/// The use of the value after one as an operand or as the mask.
std::uint32_t use_after(const CodeInst& use, ValueId value) {
  const auto operand = std::ranges::find(use.args, value);
  if (operand == use.args.end()) return use.mask_next_use;
  return use.next_use[static_cast<std::size_t>(operand - use.args.begin())];
}

}  // namespace

bool Masks::suits_vectors(const CodeInst& compare, unsigned width) const {
  constexpr int most_held = 12;  // of the 16 that instructions without mask registers reach
  if (std::popcount(all_.vector_file_.held()) > most_held) return false;
  // Bits of several chunks take fewer instructions from mask registers.
  const bool bits_too = compare.lanes * width == all_.vector_bytes();
  const auto insts = all_.code_->insts();
  for (std::uint32_t at = compare.first_use[0]; at != never;) {
    const CodeInst& use = insts[at];
    if (use.mask == compare.result || std::ranges::count(use.args, compare.result) != 1) return false;
    at = use_after(use, compare.result);
    switch (use.op) {
      case ir::Op::select:
        if (use.args[0] != compare.result || ir::size_of(use.type) != width) return false;
        break;
      case ir::Op::and_:
      case ir::Op::or_:
      case ir::Op::andn:
      case ir::Op::not_:
      case ir::Op::flag_write:
      case ir::Op::mask_set:
      case ir::Op::mask_bits:
      case ir::Op::spend:
      case ir::Op::branch_any:
        if (!bits_too) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

void Masks::note_part(ValueId mask, ValueId of, unsigned first_lane) {
  all_.values_[mask].part_of = of;
  all_.values_[mask].first_lane = static_cast<std::uint8_t>(first_lane);
}

bool Masks::take_part(const CodeInst& slice) {
  const ValueId whole = slice.args[0];
  const unsigned width = all_.values_[whole].mask_width;
  if (all_.target_.mask_registers != 0 || width == 0 || is_used_in_bits(slice)) return false;
  const unsigned per_chunk = all_.target_.lanes_per_vector(width);
  const auto first = static_cast<unsigned>(slice.imm);
  if (first % per_chunk != 0 || slice.lanes % per_chunk != 0) return false;
  const auto reg_of = [&](unsigned chunk) { return place(whole, width, first / per_chunk + chunk).reg; };
  for (unsigned c = 0; c < slice.lanes / per_chunk; ++c)
    if (reg_of(c) < 0) return false;
  define_lanes(slice.result, width);
  for (unsigned c = 0; c < slice.lanes / per_chunk; ++c)
    bind_lanes(slice.result, width, c, static_cast<unsigned>(reg_of(c)));
  take_validity(slice.result, whole, width);
  return true;
}

/// Of the lanes of a part, which are those of the whole.
void Masks::take_validity(ValueId mask, ValueId whole, unsigned width) {
  all_.values_[mask].signs_only |= static_cast<std::uint8_t>(all_.values_[whole].signs_only & width);
  all_.values_[mask].of_bits |= static_cast<std::uint8_t>(all_.values_[whole].of_bits & width);
}

Place& Masks::place(ValueId mask, unsigned width, unsigned chunk) {
  return all_.values_.place(mask, all_.values_.mask_chunk(mask, width, chunk));
}

void Masks::bind_lanes(ValueId mask, unsigned width, unsigned chunk, unsigned reg) {
  Value& v = all_.values_[mask];
  if (v.mask_width == 0) v.mask_width = static_cast<std::uint8_t>(width);
  all_.vectors.bind(mask, all_.values_.mask_chunk(mask, width, chunk), reg);
}

bool Masks::has_bits(ValueId mask) const {
  const Value& v = all_.values_[mask];
  return v.general.somewhere() || v.is_constant;
}

bool Masks::has_signs(ValueId mask, unsigned width) {
  const Value& v = all_.values_[mask];
  if (v.is_constant || v.mask_width == 0) return false;
  const unsigned per_chunk = all_.target_.lanes_per_vector(width);
  for (unsigned c = 0; c * per_chunk < all_.values_.info(mask).lanes; ++c)
    if (!place(mask, width, c).somewhere()) return false;
  return true;
}

// One instruction moves a mask register to a general one: logical ops on mask registers were slower
// (convert_int64 1.18, loops8 1.28 on an EPYC of Zen 4).
MaskForms Masks::forms(const CodeInst& inst) {
  const ValueId a = inst.args.front(), b = inst.args.back();
  const bool both_bits = has_bits(a) && has_bits(b);
  const unsigned width = all_.values_[has_bits(a) ? b : a].mask_width;
  if (all_.target_.mask_registers != 0 || width == 0 || !has_signs(a, width) || !has_signs(b, width))
    return {.width = 0, .bits = true};
  // Lanes made from the bits of the result would be ready later than these.
  if ((has_own_signs(a, width) || has_own_signs(b, width)) &&
      is_used_in_lanes(inst.result, inst.first_use[0], 0)) {
    const bool cheaper = both_bits || inst.lanes > all_.target_.lanes_per_vector(width);
    return {.width = width, .bits = cheaper && is_used_in_bits(inst)};
  }
  const bool whole = has_whole_lanes(a, width) && has_whole_lanes(b, width);
  return both_bits || !whole ? MaskForms{.width = 0, .bits = true} : MaskForms{.width = width, .bits = false};
}

bool Masks::has_whole_lanes(ValueId mask, unsigned width) const {
  return (all_.values_[mask].signs_only & width) == 0;
}

void Masks::keep_signs_only(ValueId mask, unsigned width) {
  all_.values_[mask].signs_only |= static_cast<std::uint8_t>(width);
}

bool Masks::has_own_signs(ValueId mask, unsigned width) {
  return has_signs(mask, width) && (all_.values_[mask].of_bits & width) == 0;
}

/// Whether instruction `at` or one behind it uses lanes of the mask, or of masks that are computed from it.
bool Masks::is_used_in_lanes(ValueId mask, std::uint32_t at, unsigned depth) const {
  constexpr unsigned most_depth = 2;
  if (depth == most_depth) return false;
  const auto insts = all_.code_->insts();
  while (at != never) {
    const CodeInst& use = insts[at];
    const auto operand = std::ranges::find(use.args, mask);
    if (use.mask == mask) return true;
    if (operand == use.args.end()) return false;
    if (use.op == ir::Op::select && operand == use.args.begin()) return true;
    if (use.op == ir::Op::mask_set && use.imm == 0) return true;
    if (use.result_count == 1 && ir::is_mask(use.type) &&
        is_used_in_lanes(use.result, use.first_use[0], depth + 1))
      return true;
    at = use_after(use, mask);
  }
  return false;
}

bool Masks::needs_lanes_behind(const CodeInst& access) const {
  return is_used_in_lanes(access.mask, access.mask_next_use, 0);
}

bool Masks::is_used_in_bits(const CodeInst& inst, unsigned depth) const {
  constexpr unsigned most_depth = 4;
  if (depth == most_depth) return true;
  const auto insts = all_.code_->insts();
  for (std::uint32_t at = inst.first_use[0]; at != never;) {
    const CodeInst& use = insts[at];
    const auto operand = std::ranges::find(use.args, inst.result);
    if (operand == use.args.end()) {
      // As a mask: elements of dwords are blended in registers.
      if (use.op != ir::Op::reg_write || ir::size_of(use.type) < 4) return true;
    } else if (use.op == ir::Op::and_ || use.op == ir::Op::or_ || use.op == ir::Op::andn ||
               use.op == ir::Op::slice) {
      if (is_used_in_bits(use, depth + 1)) return true;
    } else if (use.op != ir::Op::select) {
      return true;
    }
    at = use_after(use, inst.result);
  }
  return false;
}

unsigned Masks::bits(ValueId mask) {
  Value& v = all_.values_[mask];
  if (v.general.somewhere() || v.is_constant) return all_.generals.use(mask);
  if (v.mask_width == 0) throw EngineBug("a mask is used that has no value");
  const unsigned lanes = all_.values_.info(mask).lanes;
  // One instruction takes the bits of bytes.
  const bool as_bytes = v.mask_width == 4 && lanes == all_.target_.lanes_per_vector(1) &&
                        (place(mask, 1, 0).somewhere() || take_from_wider(mask, 1, 0));
  const unsigned width = as_bytes ? 1 : v.mask_width;
  const unsigned per_chunk = all_.target_.lanes_per_vector(width);
  const unsigned bits = all_.generals.define(mask);
  const bool in_registers = all_.target_.mask_registers != 0 && !v.in_vectors;
  const auto chunk_of = [&](unsigned c) {
    return in_registers ? static_cast<unsigned>(all_.values_.place(mask, c).reg)
                        : known_lanes(mask, width, c);
  };
  // Returns how many chunks it has packed.
  const auto pack = [&](unsigned to, unsigned c) {
    if (v.in_vectors) {
      all_.moves_.pack_lanes(to, chunk_of(c), width);
      return 1u;
    }
    if (in_registers && (c + 1) * per_chunk < lanes &&
        all_.moves_.pack_mask_pair(to, chunk_of(c), chunk_of(c + 1), per_chunk))
      return 2u;
    const unsigned chunk = chunk_of(c);
    const unsigned vector = all_.moves_.packing_needs_vector(width) ? all_.vectors.scratch() : 0;
    all_.moves_.pack_mask(to, chunk, width, vector);
    return 1u;
  };
  for (unsigned c = pack(bits, 0); c * per_chunk < lanes;) {
    const unsigned part = all_.generals.scratch(), first = c;
    c += pack(part, c);
    all_.moves_.join_bits(bits, part, first * per_chunk);
    all_.generals.unpin(part);
  }
  // Lanes of the last chunk beyond the mask hold whatever the operands held there.
  if (lanes % per_chunk != 0) all_.moves_.keep_bits(bits, ir::lane_mask(lanes));
  return bits;
}

unsigned Masks::lanes(ValueId mask, unsigned width, unsigned chunk) {
  if (all_.target_.mask_registers == 0) return lanes_from_bits(mask, width, chunk);
  const unsigned from = this->chunk(mask, width, chunk), vector = all_.vectors.scratch();
  all_.moves_.mask_to_lanes(vector, from, width);
  return vector;
}

/// The register of a chunk that exists in some place.
unsigned Masks::known_lanes(ValueId mask, unsigned width, unsigned chunk) {
  return all_.vectors.use(mask, all_.values_.mask_chunk(mask, width, chunk));
}

/// Takes the chunk of a part of a mask that is used later from the whole: other parts are likely to follow.
bool Masks::take_from_whole(ValueId mask, unsigned width, unsigned chunk, bool signs) {
  const Value v = all_.values_[mask];
  const unsigned per_chunk = all_.target_.lanes_per_vector(width);
  if (v.part_of == ir::no_value || all_.values_[v.part_of].next_use == never) return false;
  const unsigned first = v.first_lane + chunk * per_chunk;
  if (first % per_chunk != 0) return false;
  const ValueId whole = v.part_of;
  const unsigned reg =
      signs ? this->signs(whole, width, first / per_chunk) : lanes_from_bits(whole, width, first / per_chunk);
  bind_lanes(mask, width, chunk, reg);
  take_validity(mask, whole, width);
  return true;
}

/// Takes lanes from those of a comparison of elements two or four times as wide, whose bits would take two to
/// four times as many instructions.
bool Masks::take_from_wider(ValueId mask, unsigned width, unsigned chunk) {
  const Value& v = all_.values_[mask];
  const unsigned wider = 2 * width;
  if (wider > 8 || all_.target_.mask_registers != 0 || has_bits(mask) || (v.signs_only & wider) != 0)
    return false;
  const unsigned first = 2 * chunk, second = first + 1;
  const bool both = second * all_.target_.lanes_per_vector(wider) < all_.values_.info(mask).lanes;
  const std::uint32_t pinned = all_.vector_file_.pinned();
  const auto has = [&](unsigned part) {
    return place(mask, wider, part).somewhere() || take_from_wider(mask, wider, part);
  };
  if (!has(first) || (both && !has(second))) return false;
  const unsigned low = known_lanes(mask, wider, first), high = both ? known_lanes(mask, wider, second) : low;
  const unsigned lanes = all_.vectors.lane_scratch();
  all_.moves_.narrow_lanes(lanes, low, high, width);
  for (const unsigned reg : {low, high})
    if ((pinned >> reg & 1) == 0) all_.vector_file_.unpin(reg);
  bind_lanes(mask, width, chunk, lanes);
  return true;
}

/// Takes lanes of 8 bytes from those of 4.
bool Masks::take_from_narrower(ValueId mask, unsigned width, unsigned chunk) {
  const Value& v = all_.values_[mask];
  if (width != 8 || all_.target_.mask_registers != 0 || (v.signs_only & 4) != 0) return false;
  const unsigned per_vector = all_.target_.lanes_per_vector(4) / all_.target_.lanes_per_vector(8);
  if (!place(mask, 4, chunk / per_vector).somewhere()) return false;
  const std::uint32_t pinned = all_.vector_file_.pinned();
  const unsigned from = known_lanes(mask, 4, chunk / per_vector), lanes = all_.vectors.lane_scratch();
  all_.moves_.widen_lanes(lanes, from, chunk % per_vector);
  if ((pinned >> from & 1) == 0) all_.vector_file_.unpin(from);
  bind_lanes(mask, width, chunk, lanes);
  return true;
}

/// Whether there are lanes, or now are, without the bits; with `signs`, of which the signs suffice.
bool Masks::has_lanes(ValueId mask, unsigned width, unsigned chunk, bool signs) {
  return place(mask, width, chunk).somewhere() || take_from_whole(mask, width, chunk, signs) ||
         take_from_wider(mask, width, chunk) || take_from_narrower(mask, width, chunk);
}

unsigned Masks::lanes_from_bits(ValueId mask, unsigned width, unsigned chunk) {
  Value& v = all_.values_[mask];
  if (has_lanes(mask, width, chunk, false)) {
    const unsigned known = known_lanes(mask, width, chunk);
    const std::uint32_t own = std::uint32_t{1} << all_.values_.mask_chunk(mask, width, chunk);
    if ((v.signs_only & width) == 0 || (v.made_whole & own) != 0) return known;
    // In place, as registers may be few; a copy in the frame keeps its content.
    all_.moves_.complete_signs(known, width);
    if (!place(mask, width, chunk).copy) v.made_whole |= own;
    return known;
  }
  const unsigned from = bits(mask);
  v.of_bits |= static_cast<std::uint8_t>(width);
  const unsigned lanes = all_.vectors.lane_scratch();
  if (begins_pair(mask, width, chunk) && !all_.moves_.spreading_needs_general(width, 1)) {
    const unsigned second = all_.vectors.lane_scratch();
    all_.moves_.spread_mask_pair(lanes, second, from, width);
    bind_lanes(mask, width, 1, second);
    all_.vector_file_.unpin(second);
  } else if (all_.moves_.spreading_needs_general(width, chunk)) {
    const unsigned scratch = all_.generals.scratch();
    all_.moves_.spread_mask(lanes, from, width, chunk, scratch);
    all_.generals.unpin(scratch);
  } else {
    all_.moves_.spread_mask(lanes, from, width, chunk, 0);
  }
  bind_lanes(mask, width, chunk, lanes);
  return lanes;
}

/// Whether the second half of a mask is to be made with the first: it is usually used next.
bool Masks::begins_pair(ValueId mask, unsigned width, unsigned chunk) {
  return chunk == 0 && all_.values_.info(mask).lanes == 2 * all_.target_.lanes_per_vector(width) &&
         !place(mask, width, 1).somewhere();
}

unsigned Masks::signs(ValueId mask, unsigned width, unsigned chunk) {
  if (has_lanes(mask, width, chunk, true)) return known_lanes(mask, width, chunk);
  Value& v = all_.values_[mask];
  // All chunks of a width are whole, or all have only signs.
  bool has_whole = false;
  for (unsigned c = 0; c * all_.target_.lanes_per_vector(width) < all_.values_.info(mask).lanes; ++c)
    has_whole |= place(mask, width, c).somewhere() && (v.signs_only & width) == 0;
  if (width < 4 || has_whole) return lanes_from_bits(mask, width, chunk);
  const bool both = begins_pair(mask, width, chunk);
  const unsigned from = bits(mask), first = all_.vectors.lane_scratch();
  const unsigned second = both ? all_.vectors.lane_scratch() : first;
  all_.moves_.spread_signs(first, second, from, width, chunk);
  if (!all_.moves_.spreads_whole_lanes()) v.signs_only |= static_cast<std::uint8_t>(width);
  v.of_bits |= static_cast<std::uint8_t>(width);
  bind_lanes(mask, width, chunk, first);
  if (both) {
    bind_lanes(mask, width, 1, second);
    all_.vector_file_.unpin(second);
  }
  return first;
}

// ---- Mask registers

unsigned Masks::take() {
  int victim = -1;
  std::uint32_t victim_next = 0;
  for (unsigned r = 0; r < owner_.size(); ++r) {
    if (((all_.target_.mask_registers & ~pinned_) >> r & 1) == 0) continue;
    if (owner_[r].mask == ir::no_value) return r;
    // A register of a mask that has its bits costs nothing.
    const Value& v = all_.values_[owner_[r].mask];
    const std::uint32_t next = v.general.somewhere() ? never : v.next_use;
    if (victim >= 0 && next <= victim_next) continue;
    victim = static_cast<int>(r);
    victim_next = next;
  }
  if (victim < 0) throw EngineBug("every mask register is pinned");
  Owner& owner = owner_[static_cast<std::size_t>(victim)];
  const std::uint32_t pinned = all_.generals.pinned_;
  bits(owner.mask);
  all_.generals.pinned_ = pinned;
  all_.values_.place(owner.mask, owner.chunk).reg = -1;
  owner = {};
  return static_cast<unsigned>(victim);
}

void Masks::bind(ValueId mask, unsigned chunk, unsigned reg) {
  owner_[reg] = {mask, static_cast<std::uint8_t>(chunk)};
  all_.values_.place(mask, chunk).reg = static_cast<std::int8_t>(reg);
  pinned_ |= 1u << reg;
}

void Masks::drop(ValueId mask) {
  for (Owner& owner : owner_) {
    if (owner.mask != mask) continue;
    all_.values_.place(mask, owner.chunk).reg = -1;
    owner = {};
  }
}

unsigned Masks::chunk(ValueId mask, unsigned width, unsigned chunk) {
  Value& v = all_.values_[mask];
  if (v.mask_width == width && all_.values_.place(mask, chunk).reg >= 0) {
    const auto reg = static_cast<unsigned>(all_.values_.place(mask, chunk).reg);
    pinned_ |= 1u << reg;
    return reg;
  }
  const unsigned from = bits(mask);
  if (v.mask_width != width) drop(mask);
  v.mask_width = static_cast<std::uint8_t>(width);
  const unsigned reg = take();
  all_.moves_.load_mask(reg, from, chunk * all_.target_.lanes_per_vector(width));
  bind(mask, chunk, reg);
  return reg;
}

unsigned Masks::define_chunk(ValueId mask, unsigned chunk) {
  const unsigned reg = take();
  bind(mask, chunk, reg);
  return reg;
}

}  // namespace eum::jit::codegen
