// Callbacks: ops whose meaning an embedder or another front end provides.
#include "jit/avx2/emit/emit.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2::emit {
namespace {

/// Operands and results are consecutive, 8 bytes each.
void call_back(ThreadState* state, std::uint64_t number, const std::uint64_t* operands,
               std::size_t operand_count, std::uint64_t* results, std::size_t result_count) {
  const std::span<std::uint64_t> out(results, result_count);
  std::fill(out.begin(), out.end(), ~std::uint64_t{0});
  if (const Callbacks* callbacks = state->environment->callbacks)
    callbacks->call(callbacks->context, number, {operands, operand_count}, out);
}

}  // namespace

void emit_callback(Compiler& c, const CodeInst& inst) {
  // Results follow the operands in the data area, which has room for more of either than 8 bytes each.
  const int results = Frame::data + 8 * inst.arg_count;
  for (unsigned k = 0; k < inst.args.size(); ++k) {
    c.store_packed(inst.args[k], Frame::data + static_cast<int>(k) * 8);
    c.regs.unpin();
  }
  c.call(inst, reinterpret_cast<const void*>(&call_back), [&] {
    c.a.mov(x86::rdi, state_reg);
    c.a.mov(x86::rsi, asmjit::Imm(inst.imm));
    c.a.lea(x86::rdx, x86::ptr(x86::rsp, Frame::data));
    c.a.mov(x86::ecx, asmjit::Imm(inst.arg_count));
    c.a.lea(x86::r8, x86::ptr(x86::rsp, results));
    c.a.mov(x86::r9d, asmjit::Imm(inst.result_count));
  });
  for (unsigned k = 0; k < inst.result_count; ++k)
    c.load_packed(inst.result + k, results + static_cast<int>(k) * 8);
}

}  // namespace eum::jit::avx2::emit
