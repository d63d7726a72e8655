// Lowers a kernel block by block; the function that an instruction names lowers its meaning.
#include "frontend/eu/lower.hpp"

#include "frontend/eu/exceptions.hpp"
#include "frontend/eu/handlers.hpp"
#include "frontend/ir/verifier.hpp"

namespace eum::eu {
namespace {

/// Approximate micro-ops per instruction, for which blocks reserve room.
constexpr std::size_t ops_per_instruction = 6;

/// Activates the channels parked at this place.
void reconverge(Lowering& l, unsigned variable) {
  const ir::ValueId parked = l.b().mask_get(variable);
  l.set_execution_mask(l.b().lanewise(ir::Op::or_, {l.execution_mask(), parked}));
  l.b().mask_set(variable, l.none_of(l.b().function().simd));
}

void lower_block(Lowering& l, ir::BlockId id) {
  ir::Function& function = l.b().function();
  const ControlFlow& flow = l.flow();
  std::int64_t offset = function.blocks[id].guest_ip;
  l.begin_block(id);
  l.b().set_guest_ip(static_cast<std::uint32_t>(offset));
  if (const unsigned variable = flow.mask_variable_at(offset)) reconverge(l, variable);
  std::uint32_t count = 0;
  while (!l.ended()) {
    const Instruction* inst = flow.at(offset);
    if (inst == nullptr) {
      // The instructions before it have been executed.
      l.b().set_guest_ip(static_cast<std::uint32_t>(offset));
      if (flow.is_undefined(offset))
        raise_illegal(l, static_cast<std::uint32_t>(offset), flow.failure_at(offset));
      else
        l.trap(flow.failure_at(offset));
      break;
    }
    l.lower(*inst);
    ++count;
    offset = inst->next;
    if (l.ended()) break;
    if (const ir::BlockId next = flow.block_at(offset); next != ir::no_block) {
      l.b().jump(next);
      l.end_block();
    }
  }
  function.blocks[id].guest_instructions = count;
}

}  // namespace

void Lowering::lower(const Instruction& inst) {
  inst_ = &inst;
  builder_.set_guest_ip(inst.ip);
  predicate_read_ = lane_mask_read_ = false;
  if (inst.lower == nullptr && inst.needs_descriptors()) return register_message();
  if (inst.lower == nullptr) return trap(program_.refusal(inst.ip));
  if (const char* reason = check_flags()) return unsupported(reason);
  if (const char* reason = check_operands()) return unsupported(reason);
  Surroundings surroundings(*this);
  surroundings.before();
  inst.lower(*this, inst.op);
  if (!ended_) surroundings.after();
}

/// The receiver of the trap, which performs the message, lowers it separately.
void Lowering::register_message() {
  Surroundings(*this).before();
  builder_.trap(program_.refusal(inst_->ip), ir::Op::register_message);
  ended_ = true;
}

void Lowering::leave_if(ir::ValueId condition, ir::BlockId block) {
  const ir::BlockId rest = add_block();
  builder_.branch_any(condition, block, rest);
  begin_block(rest);
  forget_values();
}

void Lowering::forget_values() {
  execution_mask_ = ir::no_value;
  slice_count_ = 0;
  predicate_read_ = lane_mask_read_ = false;
}

void Lowering::begin_block(ir::BlockId block) {
  builder_.set_block(block);
  ended_ = false;
  execution_mask_ = ir::no_value;
  slice_count_ = 0;
}

void Lowering::trap(std::string text) {
  builder_.trap(std::move(text));
  ended_ = true;
}

ir::BlockId Lowering::add_trap(std::string_view reason) {
  const ir::BlockId id = add_block(), current = builder_.block();
  builder_.set_block(id);
  builder_.trap(fmt::format("{}: {}", reason, program_.text(inst_->ip)));
  builder_.set_block(current);
  return id;
}

void Lowering::unsupported(std::string_view reason) {
  trap(fmt::format("unsupported: {} ({})", program_.text(inst_->ip), reason));
}

Result<ir::Function> lower(const Program& program, const Target& target, unsigned simd, std::string name,
                           const LowerOptions& options, std::pmr::memory_resource* memory) {
  if (simd != 1 && simd != 8 && simd != 16 && simd != 32)
    return error("kernel {}: expected a SIMD width of 1, 8, 16 or 32, found {}", name, simd);
  if (program.bytes() < Program::unit_bytes)
    return error("kernel {}: expected at least one instruction, found {} bytes of code", name,
                 program.bytes());

  ControlFlow flow(program, target, simd, options.granularity, options.system_routine, options.modes, memory);
  ir::Function function(memory);
  function.name = std::move(name);
  function.family = target.name;
  function.simd = simd;
  function.file_bytes = target.file_bytes();
  function.slot_bytes = target.grf_bytes;
  function.flag_bits = target.flag_bits;
  function.indirect_bytes = target.grf_file_bytes();
  if (flow.mask_variables() > ir::max_mask_variables) {
    ir::Builder builder(function);
    builder.set_block(function.add_block());
    builder.trap(fmt::format("unsupported: expected at most {} places where channels are parked, found {}",
                             ir::max_mask_variables - 1, flow.mask_variables() - 1));
    return function;
  }
  flow.make_blocks(function);
  function.values.reserve(flow.instruction_count() * ops_per_instruction);

  Lowering lowering(function, target, program, flow, options.system_routine);
  // Lowering appends blocks of its own to those of instructions.
  for (std::size_t id = 0, end = function.blocks.size(); id < end; ++id)
    lower_block(lowering, static_cast<ir::BlockId>(id));
  return function;
}

}  // namespace eum::eu
