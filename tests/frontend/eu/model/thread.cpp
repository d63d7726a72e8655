#include "tests/frontend/eu/model/thread.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "frontend/ir/verifier.hpp"
#include "tests/frontend/gen/encode.hpp"

namespace eum::model {

Program assemble(const std::vector<gen::Instruction>& wanted, gen::Family family) {
  Program out;
  out.family = family;
  for (gen::Instruction inst : wanted) {
    // Gen9 has ternary instructions in Align16 only: here with packed or replicated sources.
    inst.align16 = inst.source_count == 3;
    for (gen::Operand* op : {&inst.dst, &inst.src[0], &inst.src[1], &inst.src[2]})
      op->macro |= inst.opcode == gen::Opcode::madm;  // a macro step without macro registers
    const auto word = gen::test::encode(inst, family);
    out.code.insert(out.code.end(), word.begin(), word.end());
  }
  gen::Instruction end;
  end.opcode = gen::Opcode::send;
  end.exec_size = 8;
  end.has_dst = true;
  end.dst.kind = gen::OperandKind::Null;
  end.dst.file = gen::RegisterFile::Arf;
  end.dst.type = end.src[0].type = gen::Type::ud;
  end.dst.region.hstride = 1;
  end.source_count = 1;
  end.src[0].kind = gen::OperandKind::Direct;
  end.src[0].reg = 127;
  end.src[0].region = {8, 8, 1};
  end.send.eot = true;
  end.send.ex_desc.value = static_cast<unsigned>(gen::Sfid::ts);
  end.send.desc.value = 0x02000010;
  const auto last = gen::test::encode(end, family);
  out.code.insert(out.code.end(), last.begin(), last.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Result<gen::Instruction> decoded = gen::decode(out.code, 16 * i, family);
    if (!decoded) FAIL(decoded.error().message);
    const Result<gen::Instruction> form = gen::align1_form(*decoded, family);
    if (!form) FAIL(form.error().message);
    out.instructions.push_back(*form);
  }
  return out;
}

std::vector<std::unique_ptr<jit::Engine>> all_engines() {
  std::vector<std::unique_ptr<jit::Engine>> out;
  for (const jit::EngineInfo& row : jit::engines())
    if (Result<std::unique_ptr<jit::Engine>> made = row.make()) out.push_back(std::move(*made));
  return out;
}

std::unique_ptr<jit::Executable> compile(jit::Engine& engine, const Program& program, bool steps,
                                         std::vector<std::string>* texts) {
  eu::LowerOptions options;
  if (steps) options.granularity = eu::Granularity::Instruction;
  Result<ir::Function> function = gen::lower_kernel(program.code, program.family, simd, "model",
                                                    std::pmr::get_default_resource(), options);
  if (!function) FAIL(function.error().message);
  if (Result<void> good = ir::verify(*function); !good) FAIL(good.error().message);
  if (texts != nullptr) *texts = function->strings;
  jit::CompileOptions how;
  if (steps) how.safepoints = jit::Safepoints::Instructions;
  Result<std::unique_ptr<jit::Executable>> executable = engine.compile(*function, how);
  if (!executable) FAIL(executable.error().message);
  return std::move(*executable);
}

Thread::Thread(jit::Executable& executable, const Machine& start, std::uint32_t fp_mode)
    : executable_(executable),
      layout_(executable.layout()),
      memory_(static_cast<std::byte*>(std::aligned_alloc(64, layout_.size)),
              [](void* memory) { std::free(memory); }) {
  std::memset(memory_.get(), 0, layout_.size);
  new (memory_.get()) jit::ThreadState;
  state().environment = &environment_;
  state().fp_mode = fp_mode;
  layout_.masks_of(state())[0] = start.execution_mask;
  const eu::Target target = gen::target(gen::Family::Gen9);
  std::byte* file = layout_.file_of(state());
  std::memcpy(file, start.grf.data(), start.grf.size());
  std::memcpy(file + target.offset(eu::StateRegister::Accumulator), start.acc.data(), start.acc.size());
  std::memcpy(file + target.offset(eu::StateRegister::AccumulatorHigh), start.acc_high.data(),
              target.bytes(eu::StateRegister::AccumulatorHigh));
  std::memcpy(file + target.offset(eu::StateRegister::Address), start.address.data(), 32);
  std::memcpy(layout_.flags_of(state()), &start.flags, 8);
}
jit::Status Thread::run(std::int64_t budget) {
  state().budget = budget;
  return executable_.run(state());
}

void Thread::skip(jit::Status status) {
  jit::ThreadImage image = executable_.save(state(), status);
  image.ip += 16;
  if (const Result<void> done = executable_.restore(image, state()); !done) FAIL(done.error().message);
}

Machine Thread::machine(const Machine& like) {
  Machine m = like;
  const eu::Target target = gen::target(gen::Family::Gen9);
  const std::byte* file = layout_.file_of(state());
  std::memcpy(m.grf.data(), file, m.grf.size());
  std::memcpy(m.acc.data(), file + target.offset(eu::StateRegister::Accumulator), m.acc.size());
  std::memcpy(m.acc_high.data(), file + target.offset(eu::StateRegister::AccumulatorHigh),
              target.bytes(eu::StateRegister::AccumulatorHigh));
  std::memcpy(m.address.data(), file + target.offset(eu::StateRegister::Address), 32);
  std::memcpy(&m.flags, layout_.flags_of(state()), 8);
  return m;
}

}  // namespace eum::model
