#include "tests/frontend/eu/model/thread.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "frontend/ir/verifier.hpp"
#include "tests/frontend/gen/encode.hpp"

namespace eum::model {

Program assemble(const std::vector<gen::Instruction>& wanted) {
  Program out;
  for (gen::Instruction inst : wanted) {
    // Gen9 has three sources in Align16 only: packed or replicated ones here.
    inst.align16 = inst.source_count == 3;
    for (gen::Operand* op : {&inst.dst, &inst.src[0], &inst.src[1], &inst.src[2]})
      op->macro |= inst.opcode == gen::Opcode::madm;  // a step that names no macro register
    const auto word = gen::test::encode(inst, gen::Family::Gen9);
    out.code.insert(out.code.end(), word.begin(), word.end());
  }
  static constexpr unsigned char end_of_thread[] = {0x31, 0x00, 0x60, 0x07, 0x04, 0x02, 0x00, 0x20,
                                                    0xe0, 0x0f, 0x00, 0x06, 0x10, 0x00, 0x00, 0x82};
  for (const unsigned char byte : end_of_thread) out.code.push_back(std::byte{byte});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Result<gen::Instruction> decoded = gen::decode(out.code, 16 * i, gen::Family::Gen9);
    if (!decoded) FAIL(decoded.error().message);
    const Result<gen::Instruction> form = gen::align1_form(*decoded, gen::Family::Gen9);
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
  Result<ir::Function> function = gen::lower_kernel(program.code, gen::Family::Gen9, simd, "model",
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
