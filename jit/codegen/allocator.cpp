// The lives of values, constants, edges, calls. Vectors, scalars, masks and slots have files of their own.
#include "jit/codegen/allocator.hpp"

#include <algorithm>

namespace eum::jit::codegen {

using ir::ValueId;

namespace {

/// With more channels their lanes would take too many registers, and mask registers need none.
unsigned mask_slots(const ir::Function& function, const Target& target) {
  const unsigned lanes = target.lanes_per_vector(mask_width);
  if (target.mask_registers != 0 || function.simd % lanes != 0) return 0;
  return function.simd / lanes <= 2 ? function.simd / lanes : 0;
}

}  // namespace

Allocator::Allocator(const Target& target, Moves& moves, ConstantPool& pool, const ir::Function& function,
                     std::int32_t frame_base)
    : vectors(*this),
      generals(*this),
      masks(*this),
      slots(*this, (function.file_bytes + target.vector_bytes - 1) / target.vector_bytes,
            mask_slots(function, target)),
      target_(target),
      moves_(moves),
      pool_(pool),
      function_(function),
      values_(function, target.vector_bytes),
      frame_(frame_base, static_cast<std::int32_t>(target.vector_bytes)) {}

void Allocator::begin_block(BlockCode& code, const EntryState& entry, std::span<const LoopScalar> scalars,
                            std::uint32_t reserved) {
  code_ = &code;
  scalars_ = scalars;
  reserved_ = 0;
  for (const LoopScalar& scalar : scalars) reserved_ |= std::uint32_t{1} << scalar.reg;
  vector_file_.clear();
  generals.begin_block();
  generals.reserved_ = reserved;
  masks.owner_.fill({});
  masks.pinned_ = 0;
  frame_.begin_block();
  values_.begin_block(code);
  slots.begin_block(entry);
}

void Allocator::unpin() {
  vector_file_.unpin();
  generals.pinned_ = 0;
  masks.pinned_ = 0;
}

void Allocator::end_inst(const CodeInst& inst) {
  unpin();
  const auto ended = [&](ValueId value, std::uint32_t next) {
    values_[value].next_use = next;
    if (next == never) release(value);
  };
  for (std::size_t k = 0; k < inst.args.size(); ++k) ended(inst.args[k], inst.next_use[k]);
  if (inst.mask != ir::no_value) ended(inst.mask, inst.mask_next_use);
  for (unsigned k = 0; k < inst.result_count; ++k)
    if (values_[inst.result + k].next_use == never) release(inst.result + k);
}

void Allocator::release(ValueId value) {
  Value& v = values_[value];
  if (v.kind == ValueKind::Mask && target_.mask_registers != 0) masks.drop(value);
  const std::span<Place> places = values_.places(value);
  for (unsigned c = 0; c < places.size(); ++c) {
    if (places[c].reg >= 0)
      vector_file_.drop(static_cast<std::size_t>(places[c].reg), VectorRef::value(value, c));
    release_copy(places[c], true);
  }
  if (v.kind == ValueKind::Vector) return;
  if (v.general.reg >= 0) generals.owner_[static_cast<std::size_t>(v.general.reg)] = ir::no_value;
  release_copy(v.general, false);
}

void Allocator::alias(ValueId value, ValueId of) {
  const Value& source = values_[of];
  if (source.kind == ValueKind::Scalar) {
    if (source.is_constant) return define_constant(value, source.constant);
    const unsigned from = generals.use(of);
    return moves_.move_general(generals.define(value), from);
  }
  for (unsigned c = 0; c < values_[value].chunks; ++c) vectors.share(value, c, of, c);
}

void Allocator::define_constant(ValueId value, std::uint64_t bits) {
  Value& v = values_[value];
  v.is_constant = true;
  v.constant = bits;
  if (v.kind != ValueKind::Vector) return;
  const auto entry = ConstantPool::splat(bits, ir::size_of(values_.info(value).type));
  for (unsigned c = 0; c < v.chunks; ++c) vectors.define_constant(value, c, entry);
}

void Allocator::define_in_file(ValueId value, unsigned offset) {
  const ir::ValueInfo& info = values_.info(value);
  const unsigned bytes = info.lanes * ir::size_of(info.type), width = vector_bytes();
  if (values_[value].kind == ValueKind::Scalar) {
    values_[value].general = {-1, Location::file(offset)};
    return slots.note_backing(offset, bytes, value, Slots::general_chunk);
  }
  for (unsigned c = 0; c < values_[value].chunks; ++c) {
    values_.place(value, c) = {-1, Location::file(offset + c * width)};
    slots.note_backing(offset + c * width, std::min(width, bytes - c * width), value, c);
  }
}

std::optional<Location> Allocator::whole_in_memory(ValueId value) const {
  const Value& v = values_[value];
  const Place* p = v.kind == ValueKind::Scalar ? &v.general
                   : v.chunks == 1             ? &values_.place(value, 0)
                                               : nullptr;
  if (p && p->reg < 0 && p->copy.has_registers()) return p->copy;
  return std::nullopt;
}

std::uint32_t Allocator::next_slot_use(unsigned slot) {
  // Needed by the next block, if not by this one.
  if (slots.is_mask(slot)) return never - 2;
  const std::uint32_t next = code_->next_read(slot, position_);
  return next == never && code_->needs_memory(slot, position_) ? never - 1 : next;
}

// ---- Edges

void Allocator::emit_write_back(const BitSet& needed) const {
  for (const CachedSlot& cached : slots.dirty())
    if (needed[cached.slot])
      moves_.store_vector(Location::file(cached.slot * vector_bytes()), cached.reg, vector_bytes());
}

const LoopScalar* Allocator::loop_scalar(unsigned offset, unsigned bytes) const {
  const auto found = std::ranges::find_if(
      scalars_, [&](const LoopScalar& scalar) { return scalar.offset == offset && scalar.bytes == bytes; });
  return found == scalars_.end() ? nullptr : &*found;
}

void Allocator::load(const LoopScalar& scalar) const {
  moves_.load_vector(scalar.reg, Location::file(scalar.offset), scalar.bytes);
}

void Allocator::emit_entry(const EntryState& entry, std::span<const LoopScalar> scalars) const {
  const CachedSlot* mask = nullptr;
  for (const CachedSlot& cached : entry) {
    if (!slots.is_mask(cached.slot)) {
      moves_.load_vector(cached.reg, Location::file(cached.slot * vector_bytes()), vector_bytes());
    } else if (mask != nullptr) {
      moves_.spread_execution(mask->reg, cached.reg, mask_width, 0);
      mask = nullptr;
    } else {
      mask = &cached;
    }
  }
  if (mask != nullptr) moves_.spread_execution(mask->reg, mask->reg, mask_width, mask->slot - slots.slots());
  for (const LoopScalar& scalar : scalars) load(scalar);
}

void Allocator::emit_edge(const EntryState& entry, std::span<const LoopScalar> scalars,
                          const BitSet& needed) const {
  BitSet kept_dirty(slots.slots());
  std::array<int, VectorFile::max_registers>
      source;  // of each register that the entry state has: where it is now
  source.fill(-1);
  EntryState loads;
  for (const CachedSlot& cached : entry) {
    if (cached.dirty) kept_dirty.set(cached.slot);
    const int now = slots.reg_[cached.slot];
    if (now < 0)
      loads.push_back(cached);
    else if (now != cached.reg)
      source[cached.reg] = now;
  }
  for (const CachedSlot& cached : slots.dirty())
    if (needed[cached.slot] && !kept_dirty[cached.slot])
      moves_.store_vector(Location::file(cached.slot * vector_bytes()), cached.reg, vector_bytes());
  // A parallel move: first registers into targets that are no source any more; what remains are cycles, which
  // are broken through the frame.
  const auto is_source = [&](int reg) {
    return std::find(source.begin(), source.end(), reg) != source.end();
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned to = 0; to < source.size(); ++to) {
      if (source[to] < 0 || is_source(static_cast<int>(to))) continue;
      moves_.move_vector(to, static_cast<unsigned>(source[to]));
      source[to] = -1;
      moved = true;
    }
  }
  for (unsigned to = 0; to < source.size(); ++to) {
    if (source[to] < 0) continue;
    const Location turned = Location::frame(0);  // where operands of calls are, and no call is in progress
    moves_.store_vector(turned, to, vector_bytes());
    unsigned hole = to;
    while (source[hole] != static_cast<int>(to)) {
      const auto from = static_cast<unsigned>(source[hole]);
      moves_.move_vector(hole, from);
      source[hole] = -1;
      hole = from;
    }
    moves_.load_vector(hole, turned, vector_bytes());
    source[hole] = -1;
  }
  emit_entry(loads, {});
  for (const LoopScalar& scalar : scalars)
    if (std::ranges::find(scalars_, scalar) == scalars_.end()) load(scalar);
}

bool Allocator::is_free_edge(const EntryState& entry, std::span<const LoopScalar> scalars,
                             const BitSet& needed) const {
  const auto stays = [&](const CachedSlot& cached) { return slots.reg_[cached.slot] == cached.reg; };
  const auto is_stored = [&](const CachedSlot& dirty) {
    const auto kept = std::ranges::find(entry, dirty.slot, &CachedSlot::slot);
    return needed[dirty.slot] && (kept == entry.end() || !kept->dirty);
  };
  const auto is_there = [&](const LoopScalar& scalar) {
    return std::ranges::find(scalars_, scalar) != scalars_.end();
  };
  return std::ranges::all_of(entry, stays) && std::ranges::none_of(slots.dirty(), is_stored) &&
         std::ranges::all_of(scalars, is_there);
}

// ---- Calls

LiveRegisters Allocator::live_registers() const {
  LiveRegisters live{.vectors = reserved_};
  live.vectors |= vector_file_.held() | vector_file_.pinned();
  live.generals = generals.held() | generals.pinned_ | generals.reserved_;
  for (unsigned r = 0; r < masks.owner_.size(); ++r)
    if (masks.owner_[r].mask != ir::no_value) live.masks |= 1u << r;
  live.masks |= masks.pinned_;
  return live;
}

LiveRegisters Allocator::live_after(const CodeInst& inst) const {
  const auto dies = [&](ValueId value) {
    if (values_[value].next_use > position_ && values_[value].next_use != never) return false;
    for (std::size_t k = 0; k < inst.args.size(); ++k)
      if (inst.args[k] == value) return inst.next_use[k] == never;
    if (inst.mask == value) return inst.mask_next_use == never;
    return value >= inst.result && value < inst.result + inst.result_count;
  };
  LiveRegisters live{.vectors = reserved_};
  for (unsigned r = 0; r < target_.vector_registers; ++r)
    for (const VectorRef& ref : vector_file_[r])
      if (ref.is_slot || !dies(ref.id)) live.vectors |= 1u << r;
  live.generals = generals.held() | generals.reserved_;
  for (unsigned r = 0; r < generals.owner_.size(); ++r)
    if (generals.owner_[r] != ir::no_value && dies(generals.owner_[r])) live.generals &= ~(1u << r);
  for (unsigned r = 0; r < masks.owner_.size(); ++r)
    if (masks.owner_[r].mask != ir::no_value && !dies(masks.owner_[r].mask)) live.masks |= 1u << r;
  return live;
}

}  // namespace eum::jit::codegen
