// The trap: decodes at RIP, does the access on the signal context, patches. And attaching and detaching.
#include "runtime/user_msr/native/runner.hpp"

#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/native/patcher.hpp"
#include "runtime/user_msr/native/signals.hpp"

namespace eum::rt::native {
namespace {

// The one global: what a signal handler can reach is global to the process anyway.
std::atomic<RunnerState*> attached{nullptr};

/// Signal context registers by x86 number.
constexpr std::array<int, x86::gpr_count> context_registers{
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

constexpr bool is_segment_prefix(std::uint8_t byte) {
  return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65;
}

/// At the fault instruction of a stub: the site that it belongs to.
const Site* site_of_fault(const RunnerState& state, std::uint64_t rip) {
  if (!state.arenas.contains(rip)) return nullptr;
  const auto* code = reinterpret_cast<const std::uint8_t*>(rip);
  if (code[0] != fault_instruction[0] || code[1] != fault_instruction[1]) return nullptr;
  const Site* site;
  __builtin_memcpy(&site, code + fault_instruction.size(), sizeof site);
  return site;
}

/// As many bytes as an instruction can have, or as can be read.
class CodeBytes {
 public:
  void read(std::uint64_t address) { count_ = read_code(address, bytes_); }
  std::span<const std::uint8_t> span() const { return {bytes_.data(), count_}; }

 private:
  std::array<std::uint8_t, x86::max_length> bytes_{};
  std::size_t count_ = 0;
};

/// What stands at RIP, as far as it is ours.
struct Met {
  enum Kind { NotOurs, Again, Access } kind = NotOurs;
  x86::Instruction instruction{};
  std::uint8_t length = 0;  // from RIP
  std::uint8_t segment_prefixes = 0;
  bool is_whole = false;  // the bytes were read from the program, not remembered
};

Met look_at(RunnerState& state, std::uint64_t rip, std::span<const std::uint8_t> code) {
  Met met;
  std::size_t prefixes = 0;
  while (prefixes < code.size() && is_segment_prefix(code[prefixes])) ++prefixes;
  met.segment_prefixes = static_cast<std::uint8_t>(prefixes);
  std::span<const std::uint8_t> core = code.subspan(prefixes);
  Site* site = state.sites.find(rip + prefixes);
  if (site && is_patched(*site, core)) {  // patched by another thread since
    met.kind = Met::Again;
  } else if (site && !core.empty() && core[0] == trap_byte && site->state == SiteState::Patching) {
    met.kind = Met::Access;
    met.instruction = site->instruction;
    met.length = static_cast<std::uint8_t>(prefixes + site->length);
  } else if (x86::Decoding d = x86::decode(code, x86::Mode::Bits64);
             d.verdict == x86::Verdict::Instruction && d.instruction.is_user()) {
    met.kind = Met::Access;
    met.instruction = d.instruction;
    met.length = d.length;
    met.is_whole = true;
  }
  return met;
}

/// Reads and judges until both saw the same bytes. Another thread may be patching: bytes read before its step
/// and after it are no instruction that ever stood there, and its site may be done by the time it is found.
Met look_until_steady(RunnerState& state, std::uint64_t rip, CodeBytes& code) {
  for (;;) {
    code.read(rip);
    Met met = look_at(state, rip, code.span());
    bool remembered = met.kind == Met::Access && !met.is_whole;
    if (met.kind == Met::Again || remembered) return met;
    CodeBytes now;
    now.read(rip);
    if (std::ranges::equal(code.span(), now.span())) return met;
  }
}

void on_sigill(int signal, siginfo_t* info, void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  greg_t* registers = context.uc_mcontext.gregs;
  RunnerState* state = runner();
  if (!state || info->si_code <= 0) return deliver_to_program(signal, info, pointer);
  auto rip = static_cast<std::uint64_t>(registers[REG_RIP]);
  if (const Site* site = site_of_fault(*state, rip)) {
    registers[REG_RIP] = static_cast<greg_t>(site->address);
    return raise_general_protection(pointer);
  }
  CodeBytes bytes;
  Met met = look_until_steady(*state, rip, bytes);
  if (met.kind == Met::Again) return;
  if (met.kind == Met::NotOurs) return deliver_to_program(signal, info, pointer);

  const x86::Instruction& instruction = met.instruction;
  auto msr = instruction.is_immediate()
                 ? instruction.msr
                 : static_cast<std::uint32_t>(registers[context_registers[instruction.index]]);
  greg_t& data = registers[context_registers[instruction.data]];
  auto value = static_cast<std::uint64_t>(data);
  bool allowed = access_user_msr(*state, instruction.is_read(), msr, value);
  if (state->trace.is_open())
    state->trace.line(rip, instruction, msr, state->msrs.user_name(msr), allowed, value);
  if (!allowed) return raise_general_protection(pointer);
  if (instruction.is_read()) data = static_cast<greg_t>(value);
  registers[REG_RIP] += met.length;
  if (met.is_whole && state->can_patch.load(std::memory_order_relaxed))
    patch_site(*state, rip + met.segment_prefixes, bytes.span().subspan(met.segment_prefixes),
               static_cast<std::uint8_t>(met.length - met.segment_prefixes), instruction, msr);
}

/// A fork while another thread patched: that thread does not exist in the child, its lock does.
void after_fork_in_child() {
  if (RunnerState* state = runner()) state->lock.store(false, std::memory_order_release);
}

}  // namespace

RunnerState* runner() { return attached.load(std::memory_order_acquire); }

Result<void> attach(const std::string& config_path, const RunnerOptions& options) {
  if (runner()) return error("expected no runner in this process yet, found one attached");
  Result<MsrConfig> config = load_msr_config(config_path);
  if (!config) return config.error();
  auto state = std::make_unique<RunnerState>();
  state->bitmap = config->bitmap;
  if (!state->sites.create()) return error("no address space for the table of sites");
  Result<void> added = state->msrs.add_all(*config);
  if (!added) return added.error();
  state->options = options;
  state->code = CodeMemory(options.write_method);
  if (!state->trace.open(state->options.trace.c_str()))
    return error("expected a file that can be written for the trace, found {}", options.trace);
  state->can_patch = options.patch && prepare_serialize_cores();
  static const int registered = pthread_atfork(nullptr, nullptr, &after_fork_in_child);
  if (registered != 0) return error("pthread_atfork: no memory");
  attached.store(state.release(), std::memory_order_release);
  take_sigill(&on_sigill);
  return {};
}

void detach() {
  RunnerState* state = runner();
  if (!state) return;
  state->can_patch = false;
  while (state->lock.exchange(true, std::memory_order_acquire)) {
  }
  unpatch_all(*state);
  give_sigill_back();
  attached.store(nullptr, std::memory_order_release);
  state->arenas.release();
  state->code.close();
  state->trace.close();
  delete state;
}

}  // namespace eum::rt::native
