// Allocation, eviction and the lives of values. Slots are in slots.cpp, masks in masks.cpp.
#include "jit/avx2/registers.hpp"

#include <algorithm>
#include <stdexcept>

namespace eum::jit {

using ir::ValueId;

namespace {
constexpr std::uint8_t gp_chunk = 0xff;  // in home_refs_: the scalar place
}

Registers::Registers(x86::Assembler& a, ConstantPool& pool, const ir::Function& function,
                     const StateLayout& layout)
    : a_(a),
      pool_(pool),
      function_(function),
      layout_(layout),
      slots_((function.file_bytes + slot_size - 1) / slot_size),
      values_(function.values.size()),
      slot_reg_(slots_, -1),
      slot_dirty_(slots_, 0),
      home_refs_(slots_) {
  gp_reserved_ = 1u << x86::Gp::kIdSp | 1u << state_reg.id() | 1u << surfaces_reg.id();
}

void Registers::begin_block(BlockCode& code, const SlotCache& cache) {
  code_ = &code;
  for (YmmState& reg : ymm_) reg = {};
  gp_owner_.fill(ir::no_value);
  gp_pinned_ = 0;
  std::fill(slot_reg_.begin(), slot_reg_.end(), std::int8_t{-1});
  std::fill(slot_dirty_.begin(), slot_dirty_.end(), std::uint8_t{0});
  for (unsigned slot : touched_slots_) home_refs_[slot].clear();
  touched_slots_.clear();
  places_.clear();
  spill_next_ = 0;
  auto insts = code.insts();
  for (std::size_t i = 0; i < insts.size(); ++i)
    for (unsigned k = 0; k < insts[i].result_count; ++k)
      init_value(insts[i].result + k, k < 4 ? code.first_use(i, k) : never);
  for (const CachedSlot& cached : cache) {
    slot_reg_[cached.slot] = static_cast<std::int8_t>(cached.reg);
    slot_dirty_[cached.slot] = cached.dirty;
    add_ref(cached.reg, {cached.slot, 0, true});
  }
}

void Registers::init_value(ValueId value, std::uint32_t first_use) {
  const ir::ValueInfo& info = function_.values[value];
  Value& v = values_[value];
  v = {};
  v.next_use = first_use;
  v.places = static_cast<std::uint32_t>(places_.size());
  if (ir::is_mask(info.type)) {
    v.kind = Kind::Mask;
    v.chunks = 8;
  } else if (info.lanes == 1 && ir::is_int(info.type)) {
    v.kind = Kind::Scalar;
  } else {
    v.chunks = static_cast<std::uint8_t>((info.lanes * ir::size_of(info.type) + 31) / 32);
  }
  places_.resize(places_.size() + v.chunks);
}

void Registers::begin_inst(std::uint32_t position) { position_ = position; }

void Registers::unpin() {
  for (YmmState& reg : ymm_) reg.pinned = false;
  gp_pinned_ = 0;
}

void Registers::end_inst(const CodeInst& inst) {
  unpin();
  auto ended = [&](ValueId value, std::uint32_t next) {
    values_[value].next_use = next;
    if (next == never) release(value);
  };
  for (unsigned k = 0; k < inst.arg_count; ++k) ended(inst.args[k], inst.next_use[k]);
  if (inst.mask != ir::no_value) ended(inst.mask, inst.next_use[mask_arg]);
  for (unsigned k = 0; k < inst.result_count; ++k)
    if (values_[inst.result + k].next_use == never) release(inst.result + k);
}

void Registers::release(ValueId value) {
  Value& v = values_[value];
  for (unsigned c = 0; c < v.chunks; ++c) {
    Place& p = place(value, c);
    if (p.reg >= 0) drop_ref(p.reg, {value, static_cast<std::uint8_t>(c), false});
    p = {};
  }
  if (v.gp.reg >= 0) gp_owner_[static_cast<std::size_t>(v.gp.reg)] = ir::no_value;
  v.gp = {};
}

void Registers::add_ref(int reg, Ref ref) {
  YmmState& state = ymm_[static_cast<std::size_t>(reg)];
  if (state.count == state.refs.size()) throw EngineBug("a register has too many names");
  state.refs[state.count++] = ref;
}

void Registers::drop_ref(int reg, Ref ref) {
  YmmState& state = ymm_[static_cast<std::size_t>(reg)];
  for (unsigned i = 0; i < state.count; ++i)
    if (state.refs[i] == ref) {
      state.refs[i] = state.refs[--state.count];
      return;
    }
}

std::int32_t Registers::new_spill(int bytes) {
  if (bytes == 32) spill_next_ = (spill_next_ + 31) & ~31;
  int offset = spill_next_;
  spill_next_ += bytes;
  spill_high_ = std::max(spill_high_, spill_next_);
  return Frame::spills + offset;
}

x86::Mem Registers::memory(const Place& place, unsigned bytes) const {
  switch (place.where) {
    case Where::Spill:
      return x86::ptr(x86::rsp, place.offset, bytes);
    case Where::Home:
      return home(static_cast<unsigned>(place.offset), bytes);
    case Where::Pool:
      return pool_.at(place.offset);
    case Where::Nowhere:
      break;
  }
  throw EngineBug("a value is used that is nowhere");
}

/// As next_read, but a slot that a later block may want is nearer than one that none does.
std::uint32_t Registers::next_slot_use(unsigned slot) const {
  std::uint32_t next = code_->next_read(slot, position_);
  return next == never && code_->live_out(slot) ? never - 1 : next;
}

int Registers::take_ymm() {
  int victim = -1;
  std::uint32_t victim_next = 0;
  for (int r = 0; r < 16; ++r) {
    YmmState& state = ymm_[static_cast<std::size_t>(r)];
    if (state.pinned) continue;
    if (state.count == 0) return r;
    std::uint32_t next = never;
    for (unsigned i = 0; i < state.count; ++i) {
      const Ref& ref = state.refs[i];
      next = std::min(next, ref.is_slot ? next_slot_use(ref.id) : values_[ref.id].next_use);
    }
    if (victim < 0 || next > victim_next) {
      victim = r;
      victim_next = next;
    }
  }
  if (victim < 0) throw EngineBug("every vector register is pinned");
  evict(victim);
  return victim;
}

void Registers::evict(int reg) {
  YmmState& state = ymm_[static_cast<std::size_t>(reg)];
  int home_slot = -1;
  for (unsigned i = state.count; i-- > 0;) {
    Ref ref = state.refs[i];
    if (!ref.is_slot) continue;
    if (slot_dirty_[ref.id]) {
      slot_dirty_[ref.id] = 0;
      if (code_->live_out(ref.id) || code_->next_read(ref.id, position_) != never) {
        a_.vmovups(home(ref.id * slot_size, 32), x86::ymm(static_cast<std::uint32_t>(reg)));
        home_slot = static_cast<int>(ref.id);
      }
    } else {
      home_slot = static_cast<int>(ref.id);
    }
    slot_reg_[ref.id] = -1;
    drop_ref(reg, ref);
  }
  for (unsigned i = 0; i < state.count; ++i) {
    Ref ref = state.refs[i];
    Place& p = place(ref.id, ref.chunk);
    p.reg = -1;
    if (p.where != Where::Nowhere) continue;
    if (home_slot >= 0) {
      p.where = Where::Home;
      p.offset = home_slot * static_cast<int>(slot_size);
      home_refs_[static_cast<std::size_t>(home_slot)].push_back({ref.id, ref.chunk});
      touched_slots_.push_back(static_cast<unsigned>(home_slot));
    } else {
      p.where = Where::Spill;
      p.offset = new_spill(32);
      a_.vmovaps(x86::ptr(x86::rsp, p.offset, 32), x86::ymm(static_cast<std::uint32_t>(reg)));
    }
  }
  state.count = 0;
}

void Registers::load_chunk(x86::Ymm to, const x86::Mem& from, ValueId value, unsigned chunk) {
  const ir::ValueInfo& info = function_.values[value];
  load(to, from, ir::is_mask(info.type) ? 32 : info.lanes * ir::size_of(info.type) - chunk * 32);
}

void Registers::load(x86::Ymm to, x86::Mem from, unsigned bytes) {
  if (bytes > 16) return (void)(from.setSize(32), a_.vmovups(to, from));
  if (bytes > 8) return (void)(from.setSize(16), a_.vmovups(to.xmm(), from));
  if (bytes > 4) return (void)(from.setSize(8), a_.vmovq(to.xmm(), from));
  if (bytes > 2) return (void)(from.setSize(4), a_.vmovd(to.xmm(), from));
  a_.vpxor(to.xmm(), to.xmm(), to.xmm());
  from.setSize(bytes);
  if (bytes == 2) {
    a_.vpinsrw(to.xmm(), to.xmm(), from, 0);
  } else {
    a_.vpinsrb(to.xmm(), to.xmm(), from, 0);
  }
}

x86::Ymm Registers::in(ValueId value, unsigned chunk) {
  Place& p = place(value, chunk);
  if (p.reg < 0) {
    int reg = take_ymm();
    auto ymm = x86::ymm(static_cast<std::uint32_t>(reg));
    bool whole_slot = p.where == Where::Home && p.offset % static_cast<int>(slot_size) == 0;
    if (p.where == Where::Pool || whole_slot) {
      a_.vmovups(ymm, memory(p, 32));
    } else {
      load_chunk(ymm, memory(p, 32), value, chunk);
    }
    p.reg = static_cast<std::int8_t>(reg);
    add_ref(reg, {value, static_cast<std::uint8_t>(chunk), false});
    if (whole_slot) {
      auto slot = static_cast<std::uint32_t>(p.offset) / slot_size;
      if (slot_reg_[slot] < 0) {
        slot_reg_[slot] = static_cast<std::int8_t>(reg);
        add_ref(reg, {slot, 0, true});
      }
    }
  }
  ymm_[static_cast<std::size_t>(p.reg)].pinned = true;
  return x86::ymm(static_cast<std::uint32_t>(p.reg));
}

asmjit::Operand Registers::src(ValueId value, unsigned chunk) {
  const Place& p = place(value, chunk);
  if (p.reg < 0 && p.where != Where::Nowhere) {
    const ir::ValueInfo& info = function_.values[value];
    bool readable = p.where == Where::Pool || info.lanes * ir::size_of(info.type) >= (chunk + 1) * 32 ||
                    (p.where == Where::Home && p.offset % static_cast<int>(slot_size) == 0);
    if (readable) return memory(p, 32);
  }
  return in(value, chunk);
}

x86::Ymm Registers::temp() {
  int reg = take_ymm();
  ymm_[static_cast<std::size_t>(reg)].pinned = true;
  return x86::ymm(static_cast<std::uint32_t>(reg));
}

x86::Ymm Registers::out(ValueId value, unsigned chunk) {
  x86::Ymm reg = temp();
  bind(value, chunk, reg);
  return reg;
}

bool Registers::is_dying(const CodeInst& inst, unsigned arg, unsigned chunk) const {
  ValueId value = inst.args[arg];
  if (inst.next_use[arg] != never || values_[value].kind != Kind::Vector || chunk >= values_[value].chunks)
    return false;
  const Place& p = place(value, chunk);
  return p.reg >= 0 && ymm_[static_cast<std::size_t>(p.reg)].count == 1;
}

x86::Ymm Registers::out_over_dying(const CodeInst& inst, unsigned chunk) {
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    if (!is_dying(inst, k, chunk)) continue;
    Place& p = place(inst.args[k], chunk);
    int reg = p.reg;
    drop_ref(reg, {inst.args[k], static_cast<std::uint8_t>(chunk), false});
    p = {};
    auto ymm = x86::ymm(static_cast<std::uint32_t>(reg));
    bind(inst.result, chunk, ymm);
    return ymm;
  }
  return out(inst.result, chunk);
}

void Registers::bind(ValueId value, unsigned chunk, x86::Ymm reg) {
  if (ymm_[reg.id()].count == ymm_[reg.id()].refs.size()) {
    x86::Ymm copy = temp();
    a_.vmovaps(copy, reg);
    reg = copy;
  }
  place(value, chunk) = {static_cast<std::int8_t>(reg.id()), Where::Nowhere, 0};
  add_ref(static_cast<int>(reg.id()), {value, static_cast<std::uint8_t>(chunk), false});
  ymm_[reg.id()].pinned = true;
}

void Registers::alias(ValueId value, ValueId of) {
  const Value& source = values_[of];
  if (source.kind == Kind::Scalar) {
    if (source.is_constant) return define_constant(value, source.constant);
    x86::Gp from = in_gp(of);
    a_.mov(out_gp(value), from);
    return;
  }
  for (unsigned c = 0; c < values_[value].chunks; ++c) {
    const Place& p = place(of, c);
    if (p.reg < 0 && p.where == Where::Pool) {
      place(value, c) = p;
    } else {
      bind(value, c, in(of, c));
    }
  }
}

void Registers::define_constant(ValueId value, unsigned chunk, const ConstantPool::Entry& entry) {
  place(value, chunk) = {-1, Where::Pool, pool_.index_of(entry)};
}

void Registers::define_constant(ValueId value, std::uint64_t bits) {
  values_[value].is_constant = true;
  values_[value].constant = bits;
  if (values_[value].kind != Kind::Vector) return;
  const auto entry = ConstantPool::splat_entry(bits, ir::size_of(function_.values[value].type));
  for (unsigned c = 0; c < values_[value].chunks; ++c) define_constant(value, c, entry);
}

x86::Mem Registers::out_memory(ValueId value) {
  Value& v = values_[value];
  if (v.kind != Kind::Vector) {
    v.gp = {-1, Where::Spill, new_spill(8)};
    return x86::ptr(x86::rsp, v.gp.offset, 8);
  }
  std::int32_t first = 0;
  for (unsigned c = 0; c < v.chunks; ++c) {
    std::int32_t offset = new_spill(32);
    if (c == 0) first = offset;
    place(value, c) = {-1, Where::Spill, offset};
  }
  return x86::ptr(x86::rsp, first, 32);
}

// ---- Scalars

int Registers::take_gp() {
  int victim = -1;
  std::uint32_t victim_next = 0;
  for (int r = 0; r < 16; ++r) {
    if ((gp_reserved_ | gp_pinned_) >> r & 1) continue;
    ValueId owner = gp_owner_[static_cast<std::size_t>(r)];
    if (owner == ir::no_value) return r;
    if (std::uint32_t next = values_[owner].next_use; victim < 0 || next > victim_next) {
      victim = r;
      victim_next = next;
    }
  }
  if (victim < 0) throw EngineBug("every general register is pinned");
  spill_gp(victim);
  return victim;
}

void Registers::spill_gp(int reg) {
  Value& v = values_[gp_owner_[static_cast<std::size_t>(reg)]];
  v.gp.reg = -1;
  if (v.gp.where == Where::Nowhere && !v.is_constant) {
    v.gp.where = Where::Spill;
    v.gp.offset = new_spill(8);
    a_.mov(x86::ptr(x86::rsp, v.gp.offset, 8), x86::gpq(static_cast<std::uint32_t>(reg)));
  }
  gp_owner_[static_cast<std::size_t>(reg)] = ir::no_value;
}

x86::Gp Registers::temp_gp() {
  int reg = take_gp();
  gp_pinned_ |= 1u << reg;
  return x86::gpq(static_cast<std::uint32_t>(reg));
}

x86::Gp Registers::out_gp(ValueId value) {
  x86::Gp reg = temp_gp();
  values_[value].gp = {static_cast<std::int8_t>(reg.id()), Where::Nowhere, 0};
  gp_owner_[reg.id()] = value;
  return reg;
}

x86::Gp Registers::in_gp(ValueId value) {
  Value& v = values_[value];
  if (v.gp.reg < 0) {
    Place from = v.gp;
    x86::Gp reg = out_gp(value);
    v.gp.where = from.where;
    v.gp.offset = from.offset;
    ir::Type type = function_.values[value].type;
    if (v.is_constant) {
      if (v.constant == 0) {
        a_.mov(reg.r32(), 0);
      } else {
        a_.mov(v.constant >> 32 ? reg : reg.r32(), asmjit::Imm(v.constant));
      }
    } else if (from.where == Where::Spill || ir::size_of(type) == 8) {
      a_.mov(reg, memory(from, 8));
    } else if (ir::is_mask(type) || ir::size_of(type) == 4) {
      a_.mov(reg.r32(), memory(from, 4));
    } else if (ir::is_signed(type)) {
      a_.movsx(reg.r32(), memory(from, ir::size_of(type)));
    } else {
      a_.movzx(reg.r32(), memory(from, ir::size_of(type)));
    }
  }
  gp_pinned_ |= 1u << v.gp.reg;
  return x86::gpq(static_cast<std::uint32_t>(v.gp.reg));
}

asmjit::Operand Registers::src_gp(ValueId value) {
  const Value& v = values_[value];
  unsigned bytes = ir::size_of(function_.values[value].type);
  if (v.is_constant) {
    auto wide = static_cast<std::int64_t>(v.constant);
    if (bytes <= 4) return asmjit::Imm(static_cast<std::int32_t>(v.constant));
    if (wide == static_cast<std::int32_t>(wide)) return asmjit::Imm(wide);
  }
  if (v.gp.reg < 0 && v.gp.where == Where::Home && bytes >= 4) return memory(v.gp, bytes);
  return in_gp(value);
}

x86::Mem Registers::scalar_home(ValueId value) const {
  const Value& v = values_[value];
  unsigned bytes = ir::size_of(function_.values[value].type);
  const Place* p = v.kind == Kind::Scalar ? &v.gp : v.chunks == 1 ? &place(value, 0) : nullptr;
  if (p && p->reg < 0 && p->where == Where::Home) return memory(*p, bytes);
  return {};
}

// ---- Calls

Registers::Saved Registers::in_use() const {
  Saved saved;
  for (unsigned r = 0; r < 16; ++r) {
    if (ymm_[r].count > 0 || ymm_[r].pinned) saved.ymm |= 1u << r;
    if (gp_owner_[r] != ir::no_value) saved.gp |= 1u << r;
  }
  saved.gp |= gp_pinned_;
  return saved;
}

Registers::Saved Registers::in_use_after(const CodeInst& inst) const {
  auto dies = [&](ValueId value) {
    if (values_[value].next_use > position_ && values_[value].next_use != never) return false;
    for (unsigned k = 0; k < inst.arg_count; ++k)
      if (inst.args[k] == value) return inst.next_use[k] == never;
    if (inst.mask == value) return inst.next_use[mask_arg] == never;
    return value >= inst.result && value < inst.result + inst.result_count;
  };
  Saved saved;
  for (unsigned r = 0; r < 16; ++r) {
    for (unsigned i = 0; i < ymm_[r].count; ++i)
      if (ymm_[r].refs[i].is_slot || !dies(ymm_[r].refs[i].id)) saved.ymm |= 1u << r;
    if (gp_owner_[r] != ir::no_value && !dies(gp_owner_[r])) saved.gp |= 1u << r;
  }
  return saved;
}

void Registers::emit_save(const Saved& saved) {
  for (unsigned r = 0; r < 16; ++r) {
    if (saved.ymm >> r & 1)
      a_.vmovaps(x86::ptr(x86::rsp, Frame::saved_ymm + static_cast<int>(r) * 32, 32), x86::ymm(r));
    if (saved.gp >> r & 1)
      a_.mov(x86::ptr(x86::rsp, Frame::saved_gp + static_cast<int>(r) * 8, 8), x86::gpq(r));
  }
}

void Registers::emit_restore(const Saved& saved) {
  for (unsigned r = 0; r < 16; ++r) {
    if (saved.ymm >> r & 1)
      a_.vmovaps(x86::ymm(r), x86::ptr(x86::rsp, Frame::saved_ymm + static_cast<int>(r) * 32, 32));
    if (saved.gp >> r & 1)
      a_.mov(x86::gpq(r), x86::ptr(x86::rsp, Frame::saved_gp + static_cast<int>(r) * 8, 8));
  }
}

void Registers::store_packed(ValueId value, int offset) {
  const Value& v = values_[value];
  if (v.kind == Kind::Vector) {
    for (unsigned c = 0; c < v.chunks; ++c)
      a_.vmovaps(x86::ptr(x86::rsp, offset + static_cast<int>(c) * 32, 32), in(value, c));
  } else {
    x86::Gp reg = v.kind == Kind::Mask ? mask_bits(value) : in_gp(value);
    a_.mov(x86::ptr(x86::rsp, offset, 8), reg);
  }
}

// ---- Homes of values in guest slots

void Registers::define_home(ValueId value, unsigned byte_offset) {
  const ir::ValueInfo& info = function_.values[value];
  unsigned bytes = info.lanes * ir::size_of(info.type);
  auto note = [&](unsigned begin, unsigned size, std::uint8_t chunk) {
    for (unsigned slot = begin / slot_size; slot <= (begin + size - 1) / slot_size; ++slot) {
      home_refs_[slot].push_back({value, chunk});
      touched_slots_.push_back(slot);
    }
  };
  if (values_[value].kind == Kind::Scalar) {
    values_[value].gp = {-1, Where::Home, static_cast<std::int32_t>(byte_offset)};
    return note(byte_offset, bytes, gp_chunk);
  }
  for (unsigned c = 0; c < values_[value].chunks; ++c) {
    place(value, c) = {-1, Where::Home, static_cast<std::int32_t>(byte_offset + c * 32)};
    note(byte_offset + c * 32, std::min(32u, bytes - c * 32), static_cast<std::uint8_t>(c));
  }
}

void Registers::uncache(unsigned slot) {
  if (slot_reg_[slot] >= 0) drop_ref(slot_reg_[slot], {slot, 0, true});
  slot_reg_[slot] = -1;
}

/// The home of the slot is about to change: values that are only there move to registers, and no register
/// stands for the slot any more, so that none of them is evicted to this home again.
void Registers::before_home_write(unsigned slot) {
  uncache(slot);
  auto refs = std::move(home_refs_[slot]);
  home_refs_[slot].clear();
  for (auto [value, chunk] : refs) {
    Value& v = values_[value];
    if (v.next_use == never) continue;
    Place& p = chunk == gp_chunk ? v.gp : place(value, chunk);
    if (p.where != Where::Home) continue;
    // Not pinned: many values may come this way.
    std::uint32_t gp_pins = gp_pinned_;
    if (chunk == gp_chunk) {
      in_gp(value);
      gp_pinned_ = gp_pins;
    } else if (p.reg < 0) {
      in(value, chunk);
      ymm_[static_cast<std::size_t>(p.reg)].pinned = false;
      uncache(slot);
    }
    Place& now = chunk == gp_chunk ? v.gp : place(value, chunk);
    now.where = Where::Nowhere;
  }
}

}  // namespace eum::jit
