// Finds what control can reach: fetches along every path once, notes targets and where channels are parked.
#include "frontend/eu/control_flow.hpp"

#include <fmt/core.h>

namespace eum::eu {
namespace {

/// Bytes of code an instruction takes about; room is reserved for so many.
constexpr std::size_t bytes_per_instruction = 12;

}  // namespace

ControlFlow::ControlFlow(const Program& program, unsigned simd, Granularity granularity,
                         std::optional<std::uint32_t> system_routine, std::uint32_t modes,
                         std::pmr::memory_resource* memory)
    : program_(program),
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
  u.leader = true;
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
}

bool ControlFlow::leads_anywhere(const Instruction& inst) const {
  switch (inst.flow.kind) {
    case FlowKind::computed_jump:
      // Compilers call functions so, which begin where nothing else leads.
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
  // The System Routine may come back to any instruction.
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
      u.leader = true;
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
    modes_ |= inst.modes;
    if (system_routine_) reach(inst.next);  // the System Routine may pass any instruction
    // A join that leads to the next instruction anyway needs no block behind it.
    if (inst.flow.kind == FlowKind::reconverge && inst.flow.jip == inst.next) inst.flow.kind = FlowKind::next;
    if (!scan_flow(inst)) return;
    split_behind(inst);
    offset = inst.next;
  }
}

void ControlFlow::split_behind(const Instruction& inst) {
  if (granularity_ == Granularity::Block || !inside(inst.next)) return;
  if (granularity_ == Granularity::Message && inst.message.lower == nullptr) return;
  Unit& next = units_[unit(inst.next)];
  next.leader = next.safepoint = true;
}

bool ControlFlow::may_park(const Instruction& inst) const {
  const Parks parks = info(inst.flow.kind).parks;
  // Calls: whatever their execution size.
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
