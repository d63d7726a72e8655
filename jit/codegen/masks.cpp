// Masks between their forms.
#include "jit/codegen/allocator.hpp"

namespace eum::jit::codegen {

using ir::ValueId;

void Masks::define_lanes(ValueId mask, unsigned width) {
  all_.values_[mask].mask_width = static_cast<std::uint8_t>(width);
  all_.values_[mask].signs_only = false;
}

unsigned Masks::bits(ValueId mask) {
  Value& v = all_.values_[mask];
  if (v.general.somewhere() || v.is_constant) return all_.generals.use(mask);
  if (v.mask_width == 0) throw EngineBug("a mask is used that has no value");
  const unsigned width = v.mask_width, lanes = all_.values_.info(mask).lanes;
  const unsigned per_chunk = all_.target_.lanes_per_vector(width);
  const unsigned bits = all_.generals.define(mask);
  const auto chunk_of = [&](unsigned c) {
    return all_.target_.mask_registers != 0 ? static_cast<unsigned>(all_.values_.place(mask, c).reg)
                                            : all_.vectors.use(mask, c);
  };
  // How many chunks it has packed.
  const auto pack = [&](unsigned to, unsigned c) {
    if (all_.target_.mask_registers != 0 && (c + 1) * per_chunk < lanes &&
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

unsigned Masks::lanes_from_bits(ValueId mask, unsigned width, unsigned chunk) {
  Value& v = all_.values_[mask];
  if (v.mask_width == width && all_.values_.place(mask, chunk).somewhere()) {
    const unsigned known = all_.vectors.use(mask, chunk);
    // In place, as registers may be few; a copy in the frame keeps what it has.
    if (v.signs_only) all_.moves_.complete_signs(known, width);
    return known;
  }
  const unsigned from = bits(mask);
  const unsigned lanes = all_.vectors.scratch();
  const bool first_of_two = is_first_of_two(mask, width, chunk);
  if (first_of_two && v.mask_width == 0 && !all_.moves_.spreading_needs_general(width, 1)) {
    // Who wants one half wants the other one next.
    const unsigned second = all_.vectors.scratch();
    all_.moves_.spread_mask_pair(lanes, second, from, width);
    v.mask_width = static_cast<std::uint8_t>(width);
    all_.vectors.bind(mask, 1, second);
    all_.vector_file_.unpin(second);
  } else if (all_.moves_.spreading_needs_general(width, chunk)) {
    const unsigned scratch = all_.generals.scratch();
    all_.moves_.spread_mask(lanes, from, width, chunk, scratch);
    all_.generals.unpin(scratch);
  } else {
    all_.moves_.spread_mask(lanes, from, width, chunk, 0);
  }
  if (v.mask_width == 0) v.mask_width = static_cast<std::uint8_t>(width);
  if (v.mask_width == width) all_.vectors.bind(mask, chunk, lanes);
  return lanes;
}

bool Masks::is_first_of_two(ValueId mask, unsigned width, unsigned chunk) const {
  return chunk == 0 && all_.values_.info(mask).lanes == 2 * all_.target_.lanes_per_vector(width);
}

unsigned Masks::signs(ValueId mask, unsigned width, unsigned chunk) {
  Value& v = all_.values_[mask];
  if (v.mask_width == width && all_.values_.place(mask, chunk).somewhere())
    return all_.vectors.use(mask, chunk);
  if (width < 4 || (v.mask_width != 0 && (v.mask_width != width || !v.signs_only)))
    return lanes_from_bits(mask, width, chunk);
  const bool both = is_first_of_two(mask, width, chunk) && v.mask_width == 0;
  const unsigned from = bits(mask), first = all_.vectors.scratch();
  const unsigned second = both ? all_.vectors.scratch() : first;
  all_.moves_.spread_signs(first, second, from, width, chunk);
  v.mask_width = static_cast<std::uint8_t>(width);
  v.signs_only = true;
  all_.vectors.bind(mask, chunk, first);
  if (both) {
    all_.vectors.bind(mask, 1, second);
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
    // One whose mask has its bits costs nothing.
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
