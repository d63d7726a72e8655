#pragma once
// A logical processor as user MSR instructions see it: registers, mode, control register, MSRs, linear
// memory, VMX controls; and execution of instructions on it by an engine. It must not know how engines work.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "frontend/x86/decoder.hpp"
#include "frontend/x86/lower.hpp"
#include "frontend/x86/machine_file.hpp"
#include "jit/engine.hpp"
#include "memory/base/result.hpp"
#include "runtime/user_msr/linear_memory.hpp"
#include "runtime/user_msr/msr_file.hpp"
#include "runtime/user_msr/outcome.hpp"

namespace eum::rt {

struct MachineOptions {
  jit::EngineKind engine = jit::EngineKind::avx2;
  bool has_user_msr = true;  ///< CPUID.(7,1):EDX[15]
  bool has_msr_imm = true;   ///< CPUID.(7,1):ECX[5]
  /// CPUID.(7,1):EDX[21], with R16 to R31 enabled. Without it the EVEX forms raise #UD.
  bool has_apx = false;
  unsigned linear_address_bits = 48;  ///< canonical address width: 48, or 57 with LA57, CPUID.(7,0):ECX[16]
};

struct VmxControls {
  bool in_guest = false;         ///< VMX non-root operation
  bool use_msr_bitmaps = false;  ///< VM-execution control; false: every access exits
  std::array<std::uint8_t, 4096> msr_bitmap{};
};

struct CpuidResult {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// Only one thread may use a machine at a time; machines share nothing, unless handlers do.
class Machine {
 public:
  /// An error if the host cannot run the engine, or for an unknown address width.
  static Result<std::unique_ptr<Machine>> create(const MachineOptions& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // ---- State
  /// All general registers, live, indexed as x86::gpr_names; the span is valid as long as the machine.
  /// Without APX those from R16 on are unused.
  std::span<std::uint64_t, x86::gpr_count> gprs() { return file_->gpr; }
  std::uint64_t gpr(unsigned reg) const { return file_->gpr[reg % x86::gpr_count]; }
  void set_gpr(unsigned reg, std::uint64_t value) { file_->gpr[reg % x86::gpr_count] = value; }
  std::uint64_t rip() const { return file_->rip; }
  void set_rip(std::uint64_t value) { file_->rip = value; }
  std::uint8_t cpl() const { return cpl_; }
  Result<void> set_cpl(unsigned cpl);
  x86::Mode mode() const { return mode_; }
  void set_mode(x86::Mode mode) { mode_ = mode; }
  std::uint64_t user_msr_ctl() const { return user_msr_ctl_; }
  /// Like WRMSR of the control register: an error if that raises #GP(0).
  Result<void> set_user_msr_ctl(std::uint64_t value);
  bool smap() const { return smap_; }
  void set_smap(bool on) { smap_ = on; }
  VmxControls& vmx() { return vmx_; }
  LinearMemory& memory() { return memory_; }
  /// The bitmap of IA32_USER_MSR_CTL is read through this instead of memory(), unless its function is null.
  void set_linear_reader(const LinearReader& reader) { linear_reader_ = reader; }
  /// Contains IA32_USER_MSR_CTL from the beginning.
  MsrFile& msrs() { return msrs_; }
  const MsrFile& msrs() const { return msrs_; }
  /// Leaf 7 enumerates the features; other leaves are 0.
  CpuidResult cpuid(std::uint32_t leaf, std::uint32_t subleaf) const;

  // ---- Execution
  /// Executes the instruction at the front of `bytes`, which are the bytes at RIP.
  Outcome step(std::span<const std::uint8_t> bytes);
  /// Executes the run of user MSR instructions at the front of `bytes`, up to the first other instruction or
  /// the first that does not complete, at most max_run. Done means at least one was executed.
  Outcome run(std::span<const std::uint8_t> bytes);

  static constexpr std::size_t max_run = 64;  ///< instructions translated as one

 private:
  explicit Machine(const MachineOptions& options) : options_(options) {}

  struct FreeState {
    void operator()(std::byte* memory) const;
  };

  /// An instruction that was stepped: while its bytes and the state that its translation depends on are
  /// unchanged, it is neither decoded nor looked up again.
  struct Stepped {
    std::array<std::uint8_t, x86::max_length> bytes{};
    x86::PlacedInst placed{};  // length 0: none
    std::uint64_t state = 0;
    const jit::Executable* code = nullptr;
  };
  static constexpr std::size_t stepped_count = 64;

  Stepped& stepped(std::span<const std::uint8_t> bytes);
  /// The state that translations depend on, besides the bytes and options_.
  std::uint64_t translated_state() const;
  bool can_execute(const x86::Decoding& decoding) const {
    return decoding.verdict == x86::Verdict::Instruction &&
           (options_.has_apx || !decoding.instruction.needs_apx());
  }
  Outcome failed(const x86::Instruction& first, std::string_view why);
  Outcome execute(const jit::Executable& code, std::span<const x86::PlacedInst> run);
  Result<const jit::Executable*> translate(std::span<const x86::PlacedInst> run,
                                           std::span<const std::uint8_t> bytes);
  Outcome outcome_of_event(std::span<const x86::PlacedInst> run) const;
  std::uint64_t read_linear(std::uint64_t address, std::uint64_t& value);
  /// Executes `callback` and returns its status.
  std::uint64_t call_back(x86::Callback callback, std::span<const std::uint64_t> operands,
                          std::uint64_t& value);
  std::uint64_t access_msr(bool is_read, std::uint64_t how, std::uint32_t address, std::uint64_t data,
                           std::uint64_t& value);

  MachineOptions options_;
  std::unique_ptr<jit::Engine> engine_;
  std::unordered_map<std::string, std::unique_ptr<jit::Executable>> translations_;
  std::uint32_t translated_msrs_ = 0;  // number of registers that the translations know
  std::array<Stepped, stepped_count> stepped_;

  std::unique_ptr<std::byte, FreeState> memory_of_state_;
  jit::ThreadState* state_ = nullptr;
  x86::MachineFile* file_ = nullptr;
  jit::Callbacks callbacks_;
  jit::Environment environment_;

  std::uint8_t cpl_ = 3;
  x86::Mode mode_ = x86::Mode::Bits64;
  bool smap_ = true;
  std::uint64_t user_msr_ctl_ = 0;
  VmxControls vmx_;
  LinearMemory memory_;
  LinearReader linear_reader_;
  bool is_stopped_ = false;  // by the linear reader
  std::string failure_;      // text of the last Outcome of kind Failed
  MsrFile msrs_;
};

}  // namespace eum::rt
