// Slots of the register file in vector registers.
#include <bit>

#include "jit/codegen/allocator.hpp"

namespace eum::jit::codegen {

using ir::ValueId;

void Slots::begin_block(const EntryState& entry) {
  header_dwords_ = 0;
  std::fill(reg_.begin(), reg_.end(), std::int8_t{-1});
  std::fill(dirty_.begin(), dirty_.end(), std::uint8_t{0});
  for (unsigned slot : touched_) backing_[slot].clear();
  touched_.clear();
  for (const CachedSlot& cached : entry) {
    reg_[cached.slot] = static_cast<std::int8_t>(cached.reg);
    dirty_[cached.slot] = cached.dirty;
    all_.vector_file_.add(cached.reg, VectorRef::slot(cached.slot));
  }
}

bool Slots::read_mask(ValueId mask) {
  if (mask_slots() == 0) return false;
  for (unsigned c = 0; c < mask_slots(); ++c)
    if (reg_[count_ + c] < 0) return false;
  for (unsigned c = 0; c < mask_slots(); ++c)
    all_.masks.bind_lanes(mask, mask_width, c, static_cast<unsigned>(reg_[count_ + c]));
  if (!all_.moves_.spreads_whole_lanes()) all_.masks.keep_signs_only(mask, mask_width);
  return true;
}

void Slots::write_mask(ValueId mask) {
  for (unsigned c = 0; c < mask_slots(); ++c) uncache(count_ + c);
  if (!all_.masks.has_own_signs(mask, mask_width)) return;
  for (unsigned c = 0; c < mask_slots(); ++c) {
    const int reg = all_.masks.place(mask, mask_width, c).reg;
    if (reg < 0 || all_.vector_file_[static_cast<std::size_t>(reg)].full()) continue;
    reg_[count_ + c] = static_cast<std::int8_t>(reg);
    all_.vector_file_.add(static_cast<std::size_t>(reg), VectorRef::slot(count_ + c));
  }
}

void Slots::note_backing(unsigned offset, unsigned bytes, ValueId value, unsigned chunk) {
  const unsigned width = all_.vector_bytes();
  for (unsigned slot = offset / width; slot <= (offset + bytes - 1) / width; ++slot) {
    if (backing_[slot].empty()) touched_.push_back(slot);
    backing_[slot].push_back({value, static_cast<std::uint8_t>(chunk)});
  }
}

// A value that has just been stored in the register file within a wider one takes long to load.
bool Slots::is_in_group_header(const CodeInst& inst) const {
  const unsigned offset = inst.region.offset;
  return all_.values_[inst.result].kind == ValueKind::Scalar && inst.lanes == 1 &&
         ir::size_of(inst.type) == 4 && offset % 4 == 0 && offset < all_.vector_bytes() &&
         (header_dwords_ >> offset / 4 & 1) != 0;
}

bool Slots::reads_first_slot(const CodeInst& inst) const {
  if (inst.op == ir::Op::reg_read)
    return inst.region.offset < all_.vector_bytes() && !is_in_group_header(inst);
  return inst.op == ir::Op::reg_gather || inst.op == ir::Op::reg_scatter;
}

void Slots::read(const CodeInst& inst) {
  const unsigned offset = inst.region.offset, width = all_.vector_bytes();
  const unsigned bytes = inst.lanes * ir::size_of(inst.type);
  const Value& result = all_.values_[inst.result];
  if (is_in_group_header(inst)) {
    all_.values_[inst.result].general = {-1, Location::header(offset)};
    reads_header_ = true;
    return;
  }
  if (inst.lanes == 1 && result.kind == ValueKind::Vector)
    if (const LoopScalar* scalar = all_.loop_scalar(offset, bytes))
      return all_.moves_.move_vector(all_.vectors.define(inst.result, 0), scalar->reg);
  // The first lane of a slot that only a register holds.
  if (const unsigned slot = offset / width; result.kind == ValueKind::Scalar && bytes >= 4 &&
                                            offset % width == 0 && reg_[slot] >= 0 && dirty_[slot])
    return all_.moves_.take_first_lane(all_.generals.define(inst.result), static_cast<unsigned>(reg_[slot]),
                                       bytes);
  // The beginning of a slot is loaded alone, so that no load is wider than the store before it.
  const bool part = bytes < width && reg_[offset / width] < 0;
  if (result.kind == ValueKind::Scalar || offset % width != 0 || part) {
    write_back(offset, bytes);
    return all_.define_in_file(inst.result, offset);
  }
  for (unsigned c = 0; c < result.chunks; ++c) {
    const unsigned slot = offset / width + c;
    const bool last_read = all_.code_->next_read(slot, all_.position_ + 1) == never;
    if (reg_[slot] < 0 && last_read) {
      all_.values_.place(inst.result, c) = {-1, Location::file(slot * width)};
      note_backing(slot * width, width, inst.result, c);
    } else {
      all_.vectors.bind(inst.result, c, use(slot));
      // Memory is a copy, as long as it holds the same.
      if (dirty_[slot]) continue;
      all_.values_.place(inst.result, c).copy = Location::file(slot * width);
      note_backing(slot * width, width, inst.result, c);
    }
  }
}

unsigned Slots::use(unsigned slot) {
  if (reg_[slot] < 0) {
    const unsigned reg = all_.vectors.take(), width = all_.vector_bytes();
    all_.moves_.load_vector(reg, Location::file(slot * width), width);
    reg_[slot] = static_cast<std::int8_t>(reg);
    all_.vector_file_.add(reg, VectorRef::slot(slot));
  }
  all_.vectors.pin(static_cast<unsigned>(reg_[slot]));
  return static_cast<unsigned>(reg_[slot]);
}

std::optional<Location> Slots::in_memory(unsigned slot) const {
  if (reg_[slot] >= 0) return std::nullopt;
  return Location::file(slot * all_.vector_bytes());
}

bool Slots::is_joined(unsigned slot, std::uint64_t bytes) const {
  return reg_[slot] >= 0 || all_.code_->is_read_beyond(slot, all_.position_ + 1, bytes);
}

void Slots::set(unsigned slot, unsigned reg) {
  before_overwrite(slot);
  if (all_.vector_file_[reg].full()) {
    const unsigned copy = all_.vectors.scratch();
    all_.moves_.move_vector(copy, reg);
    reg = copy;
  }
  reg_[slot] = static_cast<std::int8_t>(reg);
  dirty_[slot] = 1;
  all_.vector_file_.add(reg, VectorRef::slot(slot));
}

void Slots::store(unsigned slot) {
  const unsigned width = all_.vector_bytes();
  all_.moves_.store_vector(Location::file(slot * width), static_cast<unsigned>(reg_[slot]), width);
  dirty_[slot] = 0;
}

void Slots::write_back(unsigned offset, unsigned bytes) {
  const unsigned width = all_.vector_bytes();
  for (unsigned slot = offset / width; slot <= (offset + bytes - 1) / width; ++slot)
    if (dirty_[slot]) store(slot);
}

void Slots::write_back_and_invalidate(unsigned offset, unsigned bytes) {
  const unsigned width = all_.vector_bytes();
  write_back(offset, bytes);
  for (unsigned slot = offset / width; slot <= (offset + bytes - 1) / width; ++slot) before_overwrite(slot);
}

void Slots::write_back_all() {
  for (const CachedSlot& cached : dirty()) store(cached.slot);
}

void Slots::invalidate_all() {
  for (unsigned slot = 0; slot < slots(); ++slot) before_overwrite(slot);
}

void Slots::leave_registers() {
  write_back_all();
  for (const CachedSlot& slot : cached()) uncache(slot.slot);
}

void Slots::write_back_live() {
  for (const CachedSlot& cached : dirty())
    if (all_.code_->needs_memory(cached.slot, all_.position_)) store(cached.slot);
}

EntryState Slots::cached() const {
  EntryState cached;
  for (unsigned r = 0; r < all_.target_.vector_registers; ++r)
    for (const VectorRef& ref : all_.vector_file_[r])
      if (ref.is_slot)
        cached.push_back(
            {static_cast<std::uint16_t>(ref.id), static_cast<std::uint8_t>(r), dirty_[ref.id] != 0});
  return cached;
}

const EntryState& Slots::dirty() const {
  listed_.clear();
  for (std::uint32_t left = all_.vector_file_.held(); left != 0; left &= left - 1) {
    const auto r = static_cast<unsigned>(std::countr_zero(left));
    for (const VectorRef& ref : all_.vector_file_[r])
      if (ref.is_slot && dirty_[ref.id])
        listed_.push_back({static_cast<std::uint16_t>(ref.id), static_cast<std::uint8_t>(r), true});
  }
  return listed_;
}

void Slots::uncache(unsigned slot) {
  if (reg_[slot] >= 0) all_.vector_file_.drop(static_cast<std::size_t>(reg_[slot]), VectorRef::slot(slot));
  reg_[slot] = -1;
  dirty_[slot] = 0;
}

/// The slot's memory is about to be overwritten: values that are only there move to registers, and no
/// register caches the slot any more, so that none of these values is spilled to this memory again.
void Slots::before_overwrite(unsigned slot) {
  if (slot == 0) header_dwords_ = 0;
  uncache(slot);
  if (backing_[slot].empty()) return;
  const auto values = std::exchange(backing_[slot], {});
  const auto in_this_slot = [&](const Place& place) {
    return place.copy.where == Location::Where::RegisterFile;
  };
  for (const auto& [value, chunk] : values) {
    Value& v = all_.values_[value];
    if (v.next_use == never) continue;
    const bool general = chunk == general_chunk;
    if (!in_this_slot(general ? v.general : all_.values_.place(value, chunk))) continue;
    // Not pinned: many values may come this way.
    if (general) {
      const std::uint32_t pins = all_.generals.pinned_;
      all_.generals.use(value);
      all_.generals.pinned_ = pins;
    } else if (all_.values_.place(value, chunk).reg < 0) {
      const unsigned reg = all_.vectors.use(value, chunk);
      all_.vector_file_.unpin(reg);
      uncache(slot);
    }
    (general ? v.general : all_.values_.place(value, chunk)).copy = {};
  }
}

}  // namespace eum::jit::codegen
