// General registers: scalars and bits of masks.
#include "jit/codegen/allocator.hpp"

#include <algorithm>
#include <bit>

namespace eum::jit::codegen {

using ir::ValueId;

unsigned Generals::take() {
  int victim = -1, pointer = -1;
  std::uint32_t victim_next = 0;
  for (unsigned r = 0; r < owner_.size(); ++r) {
    if ((all_.target_.general_registers & ~(pinned_ | reserved_)) >> r & 1) {
      if (owner_[r] == ir::no_value) {
        if (!pointers_[r]) return r;
        pointer = static_cast<int>(r);
        continue;
      }
      const std::uint32_t next = all_.values_[owner_[r]].next_use;
      if (victim >= 0 && next <= victim_next) continue;
      victim = static_cast<int>(r);
      victim_next = next;
    }
  }
  if (pointer >= 0) {
    pointers_[static_cast<std::size_t>(pointer)] = {};
    return static_cast<unsigned>(pointer);
  }
  if (victim < 0) throw EngineBug("every general register is pinned");
  spill(static_cast<unsigned>(victim));
  return static_cast<unsigned>(victim);
}

void Generals::begin_block() {
  owner_.fill(ir::no_value);
  pointers_.fill({});
  pinned_ = 0;
}

std::uint32_t Generals::held() const {
  std::uint32_t registers = 0;
  for (unsigned r = 0; r < owner_.size(); ++r)
    if (owner_[r] != ir::no_value || pointers_[r]) registers |= 1u << r;
  return registers;
}

unsigned Generals::use_pointer(Location from) {
  const auto kept = std::ranges::find(pointers_, from);
  unsigned reg = static_cast<unsigned>(kept - pointers_.begin());
  if (kept == pointers_.end()) {
    // The highest free one: values are in the lowest, whose instructions are shorter.
    const std::uint32_t free = all_.target_.general_registers & ~(held() | pinned_ | reserved_);
    reg = free != 0 ? static_cast<unsigned>(std::bit_width(free)) - 1 : take();
    all_.moves_.load_whole(reg, from);
    pointers_[reg] = from;
  }
  pinned_ |= 1u << reg;
  return reg;
}

void Generals::spill(unsigned reg) {
  Value& v = all_.values_[owner_[reg]];
  v.general.reg = -1;
  if (!v.general.copy && !v.is_constant) {
    v.general.copy = Location::frame(all_.frame_.take_word());
    all_.moves_.store_whole(v.general.copy, reg);
  }
  owner_[reg] = ir::no_value;
}

unsigned Generals::scratch() {
  const unsigned reg = take();
  pinned_ |= 1u << reg;
  return reg;
}

unsigned Generals::define(ValueId value) {
  const unsigned reg = scratch();
  all_.values_[value].general = {static_cast<std::int8_t>(reg), {}};
  owner_[reg] = value;
  return reg;
}

bool Generals::is_dying(const CodeInst& inst, unsigned arg) const {
  return inst.next_use[arg] == never && all_.values_[inst.args[arg]].general.reg >= 0;
}

unsigned Generals::define_over(const CodeInst& inst, unsigned arg) {
  if (!is_dying(inst, arg)) return define(inst.result);
  Place& old = all_.values_[inst.args[arg]].general;
  const std::int8_t reg = old.reg;
  all_.release_copy(old, false);
  all_.values_[inst.result].general = {reg, {}};
  owner_[static_cast<std::size_t>(reg)] = inst.result;
  return static_cast<unsigned>(reg);
}

unsigned Generals::use(ValueId value) {
  Value& v = all_.values_[value];
  if (v.general.reg < 0) {
    const Location from = v.general.copy;
    if (!from && !v.is_constant) throw EngineBug("a scalar is used that is nowhere");
    const unsigned reg = define(value);
    v.general.copy = from;
    if (v.is_constant) {
      all_.moves_.set_general(reg, v.constant);
    } else if (from.where == Location::Where::Frame) {
      all_.moves_.load_whole(reg, from);
    } else {
      all_.moves_.load_general(reg, from, all_.values_.info(value).type);
    }
  }
  pinned_ |= 1u << v.general.reg;
  return static_cast<unsigned>(v.general.reg);
}

std::optional<Location> Generals::in_memory(ValueId value) const {
  const Place& place = all_.values_[value].general;
  if (place.reg >= 0 || !place.copy.has_registers()) return std::nullopt;
  return place.copy;
}

}  // namespace eum::jit::codegen
