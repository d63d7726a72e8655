// Vector registers: which is taken next, and what is spilled for it.
#include <algorithm>
#include <bit>

#include "jit/codegen/allocator.hpp"

namespace eum::jit::codegen {

using ir::ValueId;

unsigned Vectors::chunks(ValueId value) const { return all_.values_[value].chunks; }

void Vectors::pin(unsigned reg) { all_.vector_file_.pin(reg); }

unsigned Vectors::take() {
  const VectorFile& file = all_.vector_file_;
  const std::uint32_t movable = this->movable();
  if (const std::uint32_t idle = movable & ~file.held(); idle != 0)
    return static_cast<unsigned>(std::countr_zero(idle));
  // Evicts the register whose content is used last.
  int victim = -1;
  std::uint32_t victim_next = 0;
  for (std::uint32_t left = movable; left != 0; left &= left - 1) {
    const int r = std::countr_zero(left);
    std::uint32_t next = never;
    for (const VectorRef& ref : file[static_cast<std::size_t>(r)]) {
      next = std::min(next, ref.is_slot ? all_.next_slot_use(ref.id) : all_.values_[ref.id].next_use);
      if (victim >= 0 && next <= victim_next) break;
    }
    if (victim >= 0 && next <= victim_next) continue;
    victim = r;
    victim_next = next;
  }
  if (victim < 0) throw EngineBug("every vector register is pinned");
  spill(static_cast<unsigned>(victim));
  return static_cast<unsigned>(victim);
}

/// Registers whose content may be moved.
std::uint32_t Vectors::movable() const {
  const auto every = static_cast<std::uint32_t>((std::uint64_t{1} << all_.target_.vector_registers) - 1);
  return every & ~all_.vector_file_.pinned() & ~all_.reserved_;
}

unsigned Vectors::take_for_lanes() {
  const std::uint32_t idle = movable() & ~all_.vector_file_.held(), suited = all_.target_.lane_registers;
  if (idle == 0 || (idle & suited) != 0) return take();
  const auto other = static_cast<unsigned>(std::countr_zero(idle));
  for (std::uint32_t left = movable() & suited; left != 0; left &= left - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(left));
    if (holds_lanes(reg)) continue;
    relocate(reg, other);
    return reg;
  }
  return other;
}

bool Vectors::holds_lanes(unsigned reg) const {
  return std::ranges::any_of(all_.vector_file_[reg], [&](const VectorRef& ref) {
    return ref.is_slot ? all_.slots.is_mask(ref.id) : all_.values_[ref.id].kind == ValueKind::Mask;
  });
}

void Vectors::relocate(unsigned from, unsigned to) {
  all_.moves_.move_vector(to, from);
  for (const VectorRef& ref : all_.vector_file_[from]) {
    (ref.is_slot ? all_.slots.reg_[ref.id] : all_.values_.place(ref.id, ref.chunk).reg) =
        static_cast<std::int8_t>(to);
    all_.vector_file_.add(to, ref);
  }
  all_.vector_file_.drop_all(from);
}

void Vectors::spill(unsigned reg) {
  const VectorFile::Register& state = all_.vector_file_[reg];
  const unsigned width = all_.vector_bytes();
  int backing = -1;  // a slot whose memory has the content
  for (unsigned i = state.count; i-- > 0;) {
    const VectorRef ref = state.refs[i];
    if (!ref.is_slot) continue;
    if (all_.slots.is_mask(ref.id)) {
      // It is made again from the mask's bits when needed.
    } else if (all_.slots.dirty_[ref.id]) {
      all_.slots.dirty_[ref.id] = 0;
      if (all_.code_->needs_memory(ref.id, all_.position_)) {
        all_.moves_.store_vector(Location::file(ref.id * width), reg, width);
        backing = static_cast<int>(ref.id);
      }
    } else {
      backing = static_cast<int>(ref.id);
    }
    all_.slots.reg_[ref.id] = -1;
    all_.vector_file_.drop(reg, ref);
  }
  Location stored;
  for (const VectorRef& ref : state) {
    Place& p = all_.values_.place(ref.id, ref.chunk);
    p.reg = -1;
    if (p.copy) continue;
    if (stored) {
      p.copy = stored;
      all_.frame_.share_vector(stored.offset);
    } else if (backing >= 0) {
      const unsigned offset = static_cast<unsigned>(backing) * width;
      p.copy = Location::file(offset);
      all_.slots.note_backing(offset, width, ref.id, ref.chunk);
    } else {
      p.copy = stored = Location::frame(all_.frame_.take_vector());
      all_.moves_.store_vector(p.copy, reg, width);
    }
  }
  all_.vector_file_.drop_all(reg);
}

/// Whether the chunk is a slot in memory that may be read as a whole. If half of it is enough, the rest may
/// have just been written by other stores, for which a wider load would wait.
bool Vectors::is_whole_slot(ValueId value, unsigned chunk) const {
  const Location copy = all_.values_.place(value, chunk).copy;
  const auto width = static_cast<std::int32_t>(all_.vector_bytes());
  return copy.where == Location::Where::RegisterFile && copy.offset % width == 0 &&
         all_.values_.bytes_from(value, chunk) > all_.vector_bytes() / 2;
}

unsigned Vectors::use(ValueId value, unsigned chunk) {
  Place& p = all_.values_.place(value, chunk);
  if (p.reg < 0) {
    if (!p.copy) throw EngineBug("a value is used that is nowhere");
    const auto same = same_constant(value, p.copy);
    const unsigned reg = same ? *same : take(), width = all_.vector_bytes();
    const bool whole_slot = is_whole_slot(value, chunk);
    const bool whole = p.copy.where == Location::Where::Pool || whole_slot;
    if (!same)
      all_.moves_.load_vector(reg, p.copy,
                              whole ? width : std::min(width, all_.values_.bytes_from(value, chunk)));
    p.reg = static_cast<std::int8_t>(reg);
    all_.vector_file_.add(reg, VectorRef::value(value, chunk));
    if (whole_slot) {
      const auto slot = static_cast<unsigned>(p.copy.offset) / width;
      if (all_.slots.reg_[slot] < 0) {
        all_.slots.reg_[slot] = static_cast<std::int8_t>(reg);
        all_.vector_file_.add(reg, VectorRef::slot(slot));
      }
    }
  }
  pin(static_cast<unsigned>(p.reg));
  return static_cast<unsigned>(p.reg);
}

/// The register of another chunk of the value that has the same constant.
std::optional<unsigned> Vectors::same_constant(ValueId value, Location constant) {
  if (constant.where != Location::Where::Pool) return std::nullopt;
  for (const Place& other : all_.values_.places(value))
    if (other.reg >= 0 && other.copy == constant &&
        !all_.vector_file_[static_cast<unsigned>(other.reg)].full())
      return static_cast<unsigned>(other.reg);
  return std::nullopt;
}

std::optional<Location> Vectors::in_memory(ValueId value, unsigned chunk, unsigned bytes) const {
  const Place& p = all_.values_.place(value, chunk);
  if (p.reg >= 0 || !p.copy) return std::nullopt;
  const bool readable = p.copy.where == Location::Where::Pool || is_whole_slot(value, chunk) ||
                        all_.values_.bytes_from(value, chunk) >= bytes;
  return readable ? std::optional(p.copy) : std::nullopt;
}

unsigned Vectors::scratch() {
  const unsigned reg = take();
  pin(reg);
  return reg;
}

unsigned Vectors::lane_scratch() {
  const unsigned reg = take_for_lanes();
  pin(reg);
  return reg;
}

unsigned Vectors::define(ValueId value, unsigned chunk) {
  const unsigned reg = all_.values_[value].kind == ValueKind::Mask ? lane_scratch() : scratch();
  bind(value, chunk, reg);
  return reg;
}

bool Vectors::is_dying(const CodeInst& inst, unsigned arg, unsigned chunk) {
  const ValueId value = inst.args[arg];
  const Value& v = all_.values_[value];
  if (inst.next_use[arg] != never || v.kind != ValueKind::Vector || chunk >= v.chunks) return false;
  const Place& p = all_.values_.place(value, chunk);
  if (p.reg < 0) return false;
  const VectorFile::Register& reg = all_.vector_file_[static_cast<std::size_t>(p.reg)];
  // A slot that the instruction's result will overwrite need not keep its content.
  for (unsigned i = reg.count; i-- > 0;)
    if (reg.refs[i].is_slot && !all_.slots.is_mask(reg.refs[i].id) &&
        all_.code_->is_overwritten(reg.refs[i].id, all_.position_))
      all_.slots.uncache(reg.refs[i].id);
  return reg.count == 1;
}

unsigned Vectors::define_over(const CodeInst& inst, unsigned chunk) {
  for (unsigned k = 0; k < inst.args.size(); ++k)
    if (is_dying(inst, k, chunk)) return take_over(inst, k, chunk);
  return define(inst.result, chunk);
}

unsigned Vectors::take_over(const CodeInst& inst, unsigned arg, unsigned chunk) {
  Place& p = all_.values_.place(inst.args[arg], chunk);
  const auto reg = static_cast<unsigned>(p.reg);
  all_.vector_file_.drop(reg, VectorRef::value(inst.args[arg], chunk));
  p.reg = -1;
  all_.release_copy(p, true);
  bind(inst.result, chunk, reg);
  return reg;
}

void Vectors::bind(ValueId value, unsigned chunk, unsigned reg) {
  if (all_.vector_file_[reg].full()) {
    const unsigned copy = scratch();
    all_.moves_.move_vector(copy, reg);
    reg = copy;
  }
  all_.values_.place(value, chunk) = {static_cast<std::int8_t>(reg), {}};
  all_.vector_file_.add(reg, VectorRef::value(value, chunk));
  pin(reg);
}

void Vectors::share(ValueId value, unsigned chunk, ValueId of, unsigned of_chunk) {
  const Location copy = all_.values_.place(of, of_chunk).copy;
  if (all_.values_.place(of, of_chunk).reg >= 0)
    bind(value, chunk, use(of, of_chunk));
  else if (!copy)
    throw EngineBug("a value is shared that is nowhere");
  all_.values_.place(value, chunk).copy = copy;
  if (copy.where == Location::Where::Frame) all_.frame_.share_vector(copy.offset);
  if (copy.where != Location::Where::RegisterFile) return;
  const unsigned bytes = std::min(all_.vector_bytes(), all_.values_.bytes_from(value, chunk));
  all_.slots.note_backing(static_cast<unsigned>(copy.offset), bytes, value, chunk);
}

void Vectors::define_constant(ValueId value, unsigned chunk, const ConstantPool::Entry& entry) {
  all_.values_.place(value, chunk) = {-1, Location::pool(all_.pool_.add(entry))};
}

const ConstantPool::Entry* Vectors::constant(ValueId value, unsigned chunk) const {
  const Location& copy = all_.values_.place(value, chunk).copy;
  if (!copy || copy.where != Location::Where::Pool) return nullptr;
  return &all_.pool_.entries()[static_cast<std::size_t>(copy.offset) / ConstantPool::entry_bytes];
}

}  // namespace eum::jit::codegen
