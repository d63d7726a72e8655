// Accesses from native code. Compiled for general registers only and without calls to libc: a stub's slow
// path runs with the program's vector state live, on its stack, anywhere in its code.
#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

bool access_user_msr(RunnerState& state, bool is_read, std::uint32_t msr, std::uint64_t& value) {
  if (msr >= x86::user_msr_limit) return false;
  if (!bitmap_allows(state.bitmap.data(), msr, is_read ? x86::Access::Read : x86::Access::Write))
    return false;
  MsrSlot* slot = state.msrs.find_user(msr);
  if (!slot) return false;
  return is_read ? read_slot(*slot, value) : write_slot(*slot, value);
}

std::uint32_t slow_path(StubFrame* frame, void* pointer) {
  const Site& site = *static_cast<const Site*>(pointer);
  RunnerState* state = runner();
  if (!state) return 1;
  const x86::Instruction& instruction = site.instruction;
  std::uint32_t msr = instruction.is_immediate() ? instruction.msr
                                                 : static_cast<std::uint32_t>(frame->gpr[instruction.index]);
  std::uint64_t value = frame->gpr[instruction.data];
  bool allowed = access_user_msr(*state, instruction.is_read(), msr, value);
  if (state->trace.is_open())
    state->trace.line(site.address, instruction, msr, state->msrs.user_name(msr), allowed, value);
  if (!allowed) return 1;
  if (instruction.is_read()) frame->gpr[instruction.data] = value;
  return 0;
}

}  // namespace eum::rt::native
