// Finds the code that control can reach: fetches each instruction once and records branch targets and the
// places where channels are parked.
#include "frontend/eu/control_flow.hpp"

#include <fmt/core.h>

#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

/// Approximate bytes of code per instruction, for reserving memory.
constexpr std::size_t bytes_per_instruction = 12;

}  // namespace

ControlFlow::ControlFlow(const Program& program, const Target& target, unsigned simd, Granularity granularity,
                         std::optional<std::uint32_t> system_routine, std::uint32_t modes,
                         std::pmr::memory_resource* memory)
    : program_(program),
      target_(target),
      simd_(simd),
      system_routine_(system_routine),
      modes_(modes),
      granularity_(granularity),
      units_((program.bytes() + Program::unit_bytes - 1) / Program::unit_bytes, memory),
      instructions_(memory),
      pending_(memory),
      breaks_(memory) {
  instructions_.reserve(program.bytes() / bytes_per_instruction + 1);
  scan();
}

void ControlFlow::reach(std::int64_t offset) {
  if (!inside(offset)) return;
  Unit& u = units_[unit(offset)];
  u.leader = u.is_target = true;
  if (u.instruction == not_fetched) pending_.push_back(offset);
}

void ControlFlow::park(std::int64_t offset) {
  reach(offset);
  if (!inside(offset)) return;
  Unit& u = units_[unit(offset)];
  if (u.mask_variable == 0) u.mask_variable = mask_variables_++;
}

void ControlFlow::scan() {
  reach(0);
  if (system_routine_) reach(*system_routine_);
  do {
    while (!pending_.empty()) {
      std::int64_t offset = pending_.back();
      pending_.pop_back();
      scan_run(offset);
    }
    // A computed jump may lead to any code, such as a function that is only called through a register.
    if (computed_) scan_unreached();
  } while (!pending_.empty());
  for (std::int32_t index : breaks_) {
    const Instruction& inst = instructions_[static_cast<std::size_t>(index)];
    park(offset_of(Place::LoopExit, inst));
  }
  scan_named_places();
  if (has_descriptors_) resolve_descriptors();
}

namespace {

/// Constants known to be in the address register, by dword.
class AddressConstants {
 public:
  explicit AddressConstants(const Target& target) : first_(target.offset(StateRegister::Address)) {}

  void clear() { known_ = {}; }
  std::optional<std::uint32_t> at(std::int8_t dword) const {
    if (dword < 0 || static_cast<unsigned>(dword) >= known_.size()) return std::nullopt;
    return known_[static_cast<unsigned>(dword)];
  }
  /// Updates the known constants with the effect of `inst`.
  void pass(const Instruction& inst) {
    const Operand& dst = inst.dst;
    if (dst.kind != OperandKind::Register) return;
    const unsigned bytes = ir::size_of(dst.type), span = (inst.exec_size - 1u) * dst.region.hstride + 1;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      const unsigned dword = first_ + 4 * static_cast<unsigned>(k);
      if (dst.offset < dword + 4 && dst.offset + span * bytes > dword) known_[k].reset();
    }
    const Operand& src = inst.src[0];
    const bool moves = inst.lower == &lower_mov && inst.exec_size == 1 && inst.no_mask &&
                       !inst.predicated() && !inst.saturate && ir::is_int(dst.type) && bytes == 4 &&
                       src.is_immediate() && src.packed == PackedVector::None && ir::is_int(src.type) &&
                       ir::size_of(src.type) <= 4;
    const unsigned place = dst.offset - first_;
    if (!moves || dst.offset < first_ || place % 4 != 0 || place / 4 >= known_.size()) return;
    const unsigned unused = 32 - 8 * ir::size_of(src.type);
    const auto high = static_cast<std::uint32_t>(src.immediate) << unused;
    known_[place / 4] = ir::is_signed(src.type)
                            ? static_cast<std::uint32_t>(static_cast<std::int32_t>(high) >> unused)
                            : high >> unused;
  }

 private:
  unsigned first_;
  std::array<std::optional<std::uint32_t>, address_register_bytes / 4> known_{};
};

}  // namespace

void ControlFlow::resolve_descriptors() {
  AddressConstants constants(target_);
  for (Unit& u : units_) {
    if (u.is_target) constants.clear();
    if (u.instruction < 0) continue;
    Instruction& inst = instructions_[static_cast<std::size_t>(u.instruction)];
    if (!inst.needs_descriptors()) {
      constants.pass(inst);
      continue;
    }
    std::array<std::uint32_t, 2> values{};
    bool known = true;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (inst.descriptors[k] < 0) continue;
      const std::optional<std::uint32_t> value = constants.at(inst.descriptors[k]);
      known &= value.has_value();
      values[k] = value.value_or(0);
    }
    if (!known) continue;
    const Result<Instruction> message = program_.with_descriptors(inst.ip, values);
    if (!message) continue;
    inst = *message;
    split_behind(inst);
  }
}

bool ControlFlow::leads_anywhere(const Instruction& inst) const {
  switch (inst.flow.kind) {
    case FlowKind::computed_jump:
      // Compilers call functions this way; their entries are not reached otherwise.
      return !has_functions_;
    case FlowKind::computed_branch:
    case FlowKind::computed_park:
    case FlowKind::ip_write:
      return true;
    case FlowKind::computed_call:
      return inst.flow.absolute;
    default:
      return false;
  }
}

void ControlFlow::scan_named_places() {
  // The System Routine may return to any instruction.
  bool anywhere = system_routine_.has_value(), park_anywhere = false, park_returns = false;
  for (const Instruction& inst : instructions_) {
    anywhere |= leads_anywhere(inst);
    park_anywhere |= inst.flow.kind == FlowKind::computed_park;
    park_returns |= inst.flow.kind == FlowKind::return_if;
  }
  if (!anywhere && !park_returns) return;
  for (const Instruction& inst : instructions_) {
    if (anywhere) reach(inst.ip);
    if (park_anywhere) {
      park(inst.ip);
      all_.push_back(inst.ip);
    }
    const bool calls = inst.flow.kind == FlowKind::call || inst.flow.kind == FlowKind::computed_call;
    if (park_returns && calls && inside(inst.next)) {
      park(inst.next);
      returns_.push_back(inst.next);
    }
  }
}

void ControlFlow::scan_run(std::int64_t offset) {
  while (inside(offset)) {
    Unit& u = units_[unit(offset)];
    if (u.instruction != not_fetched) {
      u.leader = u.is_target = true;
      return;
    }
    Result<Instruction> fetched = program_.fetch(static_cast<std::uint32_t>(offset));
    if (!fetched) {
      u.instruction = first_failure - static_cast<std::int32_t>(failures_.size());
      failures_.push_back(fetched.error().message);
      return;
    }
    u.instruction = static_cast<std::int32_t>(instructions_.size());
    instructions_.push_back(*fetched);
    Instruction& inst = instructions_.back();
    has_clock_ |= inst.reads_clock;
    has_descriptors_ |= inst.needs_descriptors();
    modes_ |= inst.modes;
    if (system_routine_) reach(inst.next);  // the System Routine may skip any instruction
    // A join whose JIP is the next instruction needs no block after it.
    if (inst.flow.kind == FlowKind::reconverge && inst.flow.jip == inst.next) inst.flow.kind = FlowKind::next;
    if (!scan_flow(inst)) return;
    split_behind(inst);
    offset = inst.next;
  }
}

void ControlFlow::split_behind(const Instruction& inst) {
  if (granularity_ == Granularity::Block || !inside(inst.next)) return;
  const bool is_message = inst.message.lower != nullptr || inst.needs_descriptors();
  if (granularity_ == Granularity::Message && !is_message) return;
  Unit& next = units_[unit(inst.next)];
  next.leader = next.safepoint = true;
}

bool ControlFlow::may_park(const Instruction& inst) const {
  const Parks parks = info(inst.flow.kind).parks;
  // Calls park whatever their execution size, if predicated.
  if (inst.flow.kind == FlowKind::call || inst.flow.kind == FlowKind::computed_call) return inst.predicated();
  if (parks == Parks::NotTaken) return inst.predicated() || !takes_all_channels(inst);
  return parks != Parks::None;
}

bool ControlFlow::scan_flow(const Instruction& inst) {
  if (inst.flow.kind == FlowKind::next) return true;
  const FlowInfo& row = info(inst.flow.kind);
  computed_ |= row.computed;
  if (may_park(inst)) {
    if (row.at == Place::LoopExit) {
      breaks_.push_back(static_cast<std::int32_t>(instructions_.size() - 1));
      reach(inst.flow.uip);
    } else {
      park(offset_of(row.at, inst));
    }
  }
  for (const Place place : {row.any, row.none})
    if (place != Place::Nowhere) reach(offset_of(place, inst));
  return false;
}

void ControlFlow::scan_unreached() {
  while (unreached_ < units_.size()) {
    const Unit& u = units_[unreached_];
    const auto offset = static_cast<std::int64_t>(unreached_ * Program::unit_bytes);
    const Instruction* known = at(offset);
    const std::uint32_t ip = static_cast<std::uint32_t>(offset);
    if (u.instruction == not_fetched) {
      const Result<Instruction> fetched = program_.fetch(ip);
      if (fetched && !fetched->padding) {
        has_functions_ = true;
        return reach(offset);
      }
    }
    unreached_ += (known != nullptr ? known->next - known->ip : program_.step(ip)) / Program::unit_bytes;
  }
}

std::int64_t ControlFlow::offset_of(Place place, const Instruction& inst) const {
  switch (place) {
    case Place::Next:
      return inst.next;
    case Place::Self:
      return inst.ip;
    case Place::Jip:
      return inst.flow.jip;
    case Place::Uip:
      return inst.flow.uip;
    case Place::LoopExit: {
      const Instruction* end = at(inst.flow.uip);
      return end != nullptr && end->flow.kind == FlowKind::while_ ? std::int64_t{end->next} : inst.flow.uip;
    }
    case Place::Nowhere:
      break;
  }
  return -1;
}

std::string ControlFlow::failure_at(std::int64_t offset) const {
  if (inside(offset) && units_[unit(offset)].instruction <= first_failure)
    return failures_[static_cast<std::size_t>(first_failure - units_[unit(offset)].instruction)];
  return fmt::format("expected an instruction at byte {}, found the end of the kernel ({} bytes)", offset,
                     program_.bytes());
}

void ControlFlow::make_blocks(ir::Function& function) {
  function.mask_variables = mask_variables_;
  function.park_ips.resize(mask_variables_ - 1);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Unit& u = units_[i];
    const auto ip = static_cast<std::uint32_t>(i * Program::unit_bytes);
    if (u.mask_variable != 0) function.park_ips[u.mask_variable - 1] = ip;
    if (!u.leader) continue;
    u.block = function.add_block(ip);
    function.blocks[u.block].safepoint = u.safepoint;
  }
}

}  // namespace eum::eu
