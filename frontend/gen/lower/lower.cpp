// Lowers a kernel block by block; what an instruction means is in the function that its table row names.
#include "frontend/gen/lower/lower.hpp"

#include "frontend/gen/lower/arf_layout.hpp"
#include "frontend/gen/lower/control_flow.hpp"
#include "frontend/gen/lower/handlers.hpp"
#include "frontend/ir/verifier.hpp"

namespace eum::gen {
namespace {

using Handler = void (*)(Lowering&);

constexpr std::array<Handler, opcode_count> handlers{
#define GEN_OP(name, text, number, families, format, dst, src, caps, ...) &__VA_ARGS__,
#include "frontend/gen/instructions.def"
#undef GEN_OP
};

/// Micro-ops that a GEN instruction becomes, about; blocks reserve room for so many.
constexpr std::size_t ops_per_instruction = 6;

/// Messages, branches and waits check their operands themselves.
bool has_plain_operands(Opcode opcode, Family family) {
  Format format = shape(opcode, family).format;
  return format >= Format::Unary && format <= Format::Math;
}

void lower_instruction(Lowering& l, const Instruction& inst) {
  l.begin(inst);
  if (const char* reason = l.refuse_flags()) return l.unsupported(reason);
  if (has_plain_operands(inst.opcode, l.family()))
    if (const char* reason = l.refuse_operands()) return l.unsupported(reason);
  handlers[static_cast<std::size_t>(inst.opcode)](l);
}

/// The channels that wait at this place go on.
void take_waiting(Lowering& l, unsigned variable) {
  ir::ValueId waiting = l.b().mask_get(variable);
  l.set_execution_mask(l.b().lanewise(ir::Op::or_, {l.execution_mask(), waiting}));
  l.b().mask_set(variable, l.none_of(l.b().function().simd));
}

void lower_block(Lowering& l, const ControlFlow& flow, std::int64_t offset, ir::BlockId id) {
  ir::Function& function = l.b().function();
  l.begin_block(id);
  l.b().set_guest_ip(static_cast<std::uint32_t>(offset));
  if (unsigned variable = flow.mask_variable_at(offset)) take_waiting(l, variable);
  std::uint32_t count = 0;
  while (!l.ended()) {
    const Instruction* inst = flow.at(offset);
    if (!inst) {
      l.trap(flow.failure_at(offset));
      break;
    }
    lower_instruction(l, *inst);
    ++count;
    offset = inst->next();
    if (l.ended()) break;
    if (ir::BlockId next = flow.block_at(offset); next != ir::no_block) {
      l.b().jump(next);
      l.end_block();
    }
  }
  function.blocks[id].guest_instructions = count;
}

}  // namespace

Lowering::Lowering(ir::Function& function, Family family, const ControlFlow& flow)
    : builder_(function), family_(family), flow_(flow) {}

void Lowering::begin(const Instruction& inst) {
  inst_ = &inst;
  builder_.set_guest_ip(inst.offset);
  predicate_read_ = false;
  if (!inst.align16) return;
  // Left in Align16 form, the instruction is refused by its operands.
  if (Result<Instruction> form = align1_form(inst, family_)) {
    rewritten_ = *form;
    inst_ = &rewritten_;
  }
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

void Lowering::unsupported(std::string_view reason) {
  trap(fmt::format("unsupported: {} ({})", print(*inst_, family_), reason));
}

Result<ir::Function> lower_kernel(std::span<const std::byte> code, Family family, unsigned simd_width,
                                  std::string name, std::pmr::memory_resource* memory) {
  if (simd_width != 1 && simd_width != 8 && simd_width != 16 && simd_width != 32)
    return error("kernel {}: expected a SIMD width of 1, 8, 16 or 32, found {}", name, simd_width);
  if (code.size() < ControlFlow::unit_bytes)
    return error("kernel {}: expected at least one instruction, found {} bytes of code", name, code.size());

  if (!info(family).executed)
    return error("kernel {}: execution of {} is not supported", name, info(family).name);

  ControlFlow flow(code, family, memory);
  if (flow.mask_variables() > ir::max_mask_variables)
    return error("kernel {}: expected at most {} places where channels wait, found {}", name,
                 ir::max_mask_variables - 1, flow.mask_variables() - 1);
  ir::Function function(memory);
  function.name = std::move(name);
  function.family = fmt::format("gen{}", info(family).iga64);
  function.simd = simd_width;
  function.file_bytes = file_bytes(family);
  function.indirect_bytes = grf_file_bytes(family);
  function.slot_bytes = info(family).grf_bytes;
  function.mask_variables = flow.mask_variables();
  flow.make_blocks(function);
  function.values.reserve(flow.instruction_count() * ops_per_instruction);

  Lowering lowering(function, family, flow);
  for (std::size_t id = 0; id < function.blocks.size(); ++id)
    lower_block(lowering, flow, function.blocks[id].guest_ip, static_cast<ir::BlockId>(id));
  return function;
}

}  // namespace eum::gen
