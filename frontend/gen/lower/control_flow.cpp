// Finds what control can reach: decodes along every path once, notes targets and waiting places.
#include "frontend/gen/lower/control_flow.hpp"

#include <fmt/core.h>

namespace eum::gen {

ControlFlow::ControlFlow(std::span<const std::byte> code, Family family, std::pmr::memory_resource* memory)
    : code_(code),
      family_(family),
      units_((code.size() + unit_bytes - 1) / unit_bytes, memory),
      instructions_(memory),
      pending_(memory),
      breaks_(memory) {
  instructions_.reserve(code.size() / 12 + 1);
  scan();
}

void ControlFlow::reach(std::int64_t offset) {
  if (!inside(offset)) return;
  Unit& u = units_[unit(offset)];
  u.leader = true;
  if (u.instruction == not_decoded) pending_.push_back(offset);
}

void ControlFlow::park(std::int64_t offset) {
  reach(offset);
  if (!inside(offset)) return;
  Unit& u = units_[unit(offset)];
  if (u.mask_variable == 0) u.mask_variable = mask_variables_++;
}

void ControlFlow::scan() {
  reach(0);
  do {
    while (!pending_.empty()) {
      std::int64_t offset = pending_.back();
      pending_.pop_back();
      scan_run(offset);
    }
    // A computed jump may lead to any code, such as a function that is only called through a register.
    if (indirect_) scan_unreached();
  } while (!pending_.empty());
  for (std::int32_t index : breaks_) park(loop_exit(instructions_[static_cast<std::size_t>(index)]));
}

void ControlFlow::scan_run(std::int64_t offset) {
  while (inside(offset)) {
    Unit& u = units_[unit(offset)];
    if (u.instruction != not_decoded) {
      u.leader = true;
      return;
    }
    Result<Instruction> decoded = decode(code_, static_cast<std::size_t>(offset), family_);
    if (!decoded) {
      u.instruction = first_failure - static_cast<std::int32_t>(failures_.size());
      failures_.push_back(decoded.error().message);
      return;
    }
    u.instruction = static_cast<std::int32_t>(instructions_.size());
    instructions_.push_back(*decoded);
    if (!scan_flow(instructions_.back())) return;
    offset = instructions_.back().next();
  }
}

bool ControlFlow::scan_flow(const Instruction& inst) {
  using enum Opcode;
  std::int64_t next = inst.next();
  auto jump = [&] { reach(inst.jip.offset); };
  switch (inst.opcode) {
    case illegal:
      return false;
    case jmpi:
      if (inst.jip.present) {
        jump();
        break;
      }
      // A function that returns by a computed jump comes back here.
      indirect_ = true;
      reach(next);
      return inst.predicated();
    case if_:
      park(inst.jip.offset);
      break;
    case else_:
    case cont:
    case halt:
    case brc:
      park(inst.uip.offset);
      jump();
      break;
    case endif:
    case join:
      if (inst.jip.offset == next) return true;
      jump();
      break;
    case while_:
      jump();
      park(next);
      return true;
    case break_:
      breaks_.push_back(static_cast<std::int32_t>(instructions_.size() - 1));
      reach(inst.uip.offset);
      jump();
      break;
    case goto_:
      if (inst.branch_ctrl) {
        reach(inst.uip.offset);
        park(inst.jip.offset);
      } else {
        park(inst.uip.offset);
        jump();
      }
      break;
    case brd:
      jump();
      park(next);
      return true;
    case calla:
    case call:
      if (inst.jip.present && inst.opcode == call)
        jump();
      else
        indirect_ = true;
      if (inst.predicated()) park(next);
      break;
    case ret:
      return false;
    case wait:
      break;
    default:
      return !(is_send(inst.opcode) && inst.send.eot);
  }
  bool falls_through = inst.opcode != jmpi || inst.predicated();
  if (falls_through) reach(next);
  return falls_through;
}

void ControlFlow::scan_unreached() {
  while (unreached_ < units_.size()) {
    Unit& u = units_[unreached_];
    std::int64_t offset = static_cast<std::int64_t>(unreached_) * unit_bytes;
    const Instruction* known = at(offset);
    // Padding is made of 16-byte instructions that say illegal.
    unreached_ += known ? known->length / unit_bytes : 2;
    if (u.instruction != not_decoded) continue;
    Result<Instruction> decoded = decode(code_, static_cast<std::size_t>(offset), family_);
    if (decoded && decoded->opcode != Opcode::illegal && decoded->opcode != Opcode::nop) {
      unreached_ -= 2;
      return reach(offset);
    }
  }
}

std::int64_t ControlFlow::loop_exit(const Instruction& inst) const {
  const Instruction* end = at(inst.uip.offset);
  return end && end->opcode == Opcode::while_ ? end->next() : inst.uip.offset;
}

std::string ControlFlow::failure_at(std::int64_t offset) const {
  if (inside(offset) && units_[unit(offset)].instruction <= first_failure)
    return failures_[static_cast<std::size_t>(first_failure - units_[unit(offset)].instruction)];
  return fmt::format("expected an instruction at byte {}, found the end of the kernel ({} bytes)", offset,
                     code_.size());
}

void ControlFlow::make_blocks(ir::Function& function) {
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (units_[i].leader) units_[i].block = function.add_block(static_cast<std::uint32_t>(i * unit_bytes));
}

}  // namespace eum::gen
