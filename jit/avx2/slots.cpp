// Guest register slots: which are in registers, which are newer there than at home.
#include "jit/avx2/registers.hpp"

namespace eum::jit {

void Registers::read_region(const CodeInst& inst) {
  const unsigned offset = inst.region.offset;
  const unsigned bytes = inst.lanes * ir::size_of(inst.type);
  if (values_[inst.result].kind == Kind::Scalar || offset % slot_size != 0) {
    flush_home(offset, bytes);
    return define_home(inst.result, offset);
  }
  for (unsigned c = 0; c < values_[inst.result].chunks; ++c) {
    unsigned slot = offset / slot_size + c;
    if (slot_reg_[slot] < 0 && code_->next_read(slot, position_ + 1) == never) {
      place(inst.result, c) = {-1, Where::Home, static_cast<std::int32_t>(slot * slot_size)};
      home_refs_[slot].push_back({inst.result, static_cast<std::uint8_t>(c)});
      touched_slots_.push_back(slot);
    } else {
      bind(inst.result, c, slot_in(slot));
      // The home serves too, as long as it holds the same.
      if (!slot_dirty_[slot]) {
        Place& p = place(inst.result, c);
        p.where = Where::Home;
        p.offset = static_cast<std::int32_t>(slot * slot_size);
        home_refs_[slot].push_back({inst.result, static_cast<std::uint8_t>(c)});
        touched_slots_.push_back(slot);
      }
    }
  }
}

x86::Ymm Registers::slot_in(unsigned slot) {
  if (slot_reg_[slot] < 0) {
    int reg = take_ymm();
    a_.vmovups(x86::ymm(static_cast<std::uint32_t>(reg)), home(slot * slot_size, 32));
    slot_reg_[slot] = static_cast<std::int8_t>(reg);
    add_ref(reg, {slot, 0, true});
  }
  auto reg = static_cast<std::uint32_t>(slot_reg_[slot]);
  ymm_[reg].pinned = true;
  return x86::ymm(reg);
}

asmjit::Operand Registers::slot_src(unsigned slot) {
  if (slot_reg_[slot] < 0) return home(slot * slot_size, 32);
  return slot_in(slot);
}

void Registers::set_slot(unsigned slot, x86::Ymm reg) {
  before_home_write(slot);
  if (ymm_[reg.id()].count == ymm_[reg.id()].refs.size()) {
    x86::Ymm copy = temp();
    a_.vmovaps(copy, reg);
    reg = copy;
  }
  slot_reg_[slot] = static_cast<std::int8_t>(reg.id());
  slot_dirty_[slot] = 1;
  add_ref(static_cast<int>(reg.id()), {slot, 0, true});
}

void Registers::write_home(unsigned slot) {
  a_.vmovups(home(slot * slot_size, 32), x86::ymm(static_cast<std::uint32_t>(slot_reg_[slot])));
  slot_dirty_[slot] = 0;
}

void Registers::flush_home(unsigned byte_offset, unsigned bytes) {
  for (unsigned slot = byte_offset / slot_size; slot <= (byte_offset + bytes - 1) / slot_size; ++slot)
    if (slot_dirty_[slot]) write_home(slot);
}

void Registers::open_home(unsigned byte_offset, unsigned bytes) {
  flush_home(byte_offset, bytes);
  for (unsigned slot = byte_offset / slot_size; slot <= (byte_offset + bytes - 1) / slot_size; ++slot)
    before_home_write(slot);
}

void Registers::flush_all_slots() {
  for (unsigned slot = 0; slot < slots_; ++slot)
    if (slot_dirty_[slot]) write_home(slot);
}

void Registers::forget_slots() {
  for (unsigned slot = 0; slot < slots_; ++slot) before_home_write(slot);
}

SlotCache Registers::cached_slots() const {
  SlotCache cache;
  for (unsigned slot = 0; slot < slots_; ++slot)
    if (slot_reg_[slot] >= 0)
      cache.push_back({static_cast<std::uint16_t>(slot), static_cast<std::uint8_t>(slot_reg_[slot]),
                       slot_dirty_[slot] != 0});
  return cache;
}

void Registers::emit_flush(const SlotSet& needed) const {
  for (unsigned slot = 0; slot < slots_; ++slot)
    if (slot_dirty_[slot] && needed[slot])
      a_.vmovups(home(slot * slot_size, 32), x86::ymm(static_cast<std::uint32_t>(slot_reg_[slot])));
}

void Registers::emit_load(const SlotCache& cache) const {
  for (const CachedSlot& cached : cache) a_.vmovups(x86::ymm(cached.reg), home(cached.slot * slot_size, 32));
}

void Registers::emit_transition(const SlotCache& cache, const SlotSet& needed) const {
  SlotSet kept_dirty;
  std::array<int, 16> source;  // of each register that the cache wants: the register that has it now
  source.fill(-1);
  SlotCache loads;
  for (const CachedSlot& cached : cache) {
    if (cached.dirty) kept_dirty.set(cached.slot);
    if (slot_reg_[cached.slot] < 0) {
      loads.push_back(cached);
    } else if (slot_reg_[cached.slot] != cached.reg) {
      source[cached.reg] = slot_reg_[cached.slot];
    }
  }
  for (unsigned slot = 0; slot < slots_; ++slot)
    if (slot_dirty_[slot] && needed[slot] && !kept_dirty[slot])
      a_.vmovups(home(slot * slot_size, 32), x86::ymm(static_cast<std::uint32_t>(slot_reg_[slot])));
  // Registers move in parallel: first those whose target nobody waits for; what is left are cycles, which
  // turn through the frame.
  auto is_source = [&](int reg) {
    for (int s : source)
      if (s == reg) return true;
    return false;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned to = 0; to < 16; ++to) {
      if (source[to] < 0 || is_source(static_cast<int>(to))) continue;
      a_.vmovaps(x86::ymm(to), x86::ymm(static_cast<std::uint32_t>(source[to])));
      source[to] = -1;
      moved = true;
    }
  }
  for (unsigned to = 0; to < 16; ++to) {
    if (source[to] < 0) continue;
    const x86::Mem parked = x86::ptr(x86::rsp, Frame::data, 32);
    a_.vmovaps(parked, x86::ymm(to));
    unsigned hole = to;
    while (source[hole] != static_cast<int>(to)) {
      auto from = static_cast<unsigned>(source[hole]);
      a_.vmovaps(x86::ymm(hole), x86::ymm(from));
      source[hole] = -1;
      hole = from;
    }
    a_.vmovaps(x86::ymm(hole), parked);
    source[hole] = -1;
  }
  emit_load(loads);
}

void Registers::flush_live_out() {
  for (unsigned slot = 0; slot < slots_; ++slot)
    if (slot_dirty_[slot] && code_->live_out(slot)) write_home(slot);
}

}  // namespace eum::jit
