#pragma once
// What an engine is: it compiles a micro-op function into an Executable, which runs threads of it.
// A thread is a ThreadState: registers, flags, masks and where to go on; what it can reach is its
// Environment. This header knows nothing of guest encodings, binaries or dispatch.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "frontend/ir/function.hpp"
#include "memory/result.hpp"

namespace eum::mem {
struct Surface;
class AddressSpace;
}  // namespace eum::mem

namespace eum::jit {

/// Why Executable::run returned.
enum class Status : std::uint32_t {
  Exited,   ///< end of thread
  Waiting,  ///< at the group's barrier; run again once it is open
  Paused,   ///< the budget is used up; run again with more
  Faulted,  ///< see ThreadState::fault
};

enum class FaultKind : std::uint32_t {
  None,
  Unsupported,      ///< index of the text in Function::strings in `address`
  OutOfBounds,      ///< stateless access outside every region, or one that the region does not allow
  Misaligned,       ///< atomic at an address that is no multiple of its size
  BadRegister,      ///< indirect register access beyond the register file
  BadJump,          ///< jump_ip to where no block begins
  UnsupportedMode,  ///< floating point mode that cannot be kept (cr0 value in `address`)
};

/// A guest error. Plain data: engines write it, callers add thread and text.
struct Fault {
  FaultKind kind = FaultKind::None;
  std::uint32_t guest_ip = 0;  ///< byte offset in the kernel
  std::uint32_t lane = 0;
  std::uint32_t bytes = 0;  ///< of the access
  std::uint64_t address = 0;
};

/// What the SystemCall ops of an x86 machine act on.
struct SystemInterface {
  void* context = nullptr;
  /// Does `op` on operands a and b. Returns the status, 0 = done with *value as the result; *value is 0
  /// before. Must not throw, and must not touch the thread's register file.
  std::uint64_t (*call)(void* context, ir::Op op, std::uint64_t imm, std::uint64_t a, std::uint64_t b,
                        std::uint64_t* value) = nullptr;
};

/// What a thread can reach. Standard layout: translated code reads it.
struct Environment {
  const mem::Surface* surfaces = nullptr;  ///< 256 entries; 254 is shared local memory
  std::byte* scratch = nullptr;            ///< of this thread
  std::uint64_t scratch_bytes = 0;
  mem::AddressSpace* space = nullptr;       ///< A64 and A32; may be null: every access faults
  const SystemInterface* system = nullptr;  ///< may be null: every SystemCall has status all ones
};

/// The fixed head of a thread's state. Register file and mask variables follow it, see StateLayout.
struct ThreadState {
  const Environment* environment = nullptr;
  std::int64_t budget =
      INT64_MAX;             ///< guest instructions left; counted down block by block, checked at back edges
  std::uint32_t resume = 0;  ///< block to go on at; 0 = the beginning
  std::uint32_t barrier_signals = 0;  ///< barrier_signal ops executed
  std::uint64_t flags = 0;            ///< f0.0 = bits 15:0, f0.1, f1.0, f1.1
  std::uint32_t fp_mode = 0;  ///< cr0.0 as the last fpmode_set gave it, or as the caller starts the thread
  std::uint32_t reserved = 0;
  /// The region of the address space that the last A64 or A32 access hit: an engine's cache, cleared by size
  /// 0.
  std::uint64_t region_start = 0;
  std::uint64_t region_size = 0;
  std::byte* region_host = nullptr;
  Fault fault;
};

/// Where the variable parts of a thread's state lie, in bytes from the ThreadState.
struct StateLayout {
  std::uint32_t file = 0;   ///< register file, 64-byte aligned
  std::uint32_t masks = 0;  ///< u32 for each mask variable; [0] is the execution mask
  std::uint32_t size = 0;   ///< of the whole, a multiple of 64

  static StateLayout of(const ir::Function& function) {
    constexpr auto up = [](std::uint32_t n) { return (n + 63) & ~63u; };
    StateLayout layout;
    layout.file = up(sizeof(ThreadState));
    layout.masks = up(layout.file + function.file_bytes);
    layout.size = up(layout.masks + 4 * function.mask_variables);
    return layout;
  }
  std::byte* file_of(ThreadState& state) const { return reinterpret_cast<std::byte*>(&state) + file; }
  std::uint32_t* masks_of(ThreadState& state) const {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(&state) + masks);
  }
};

/// The floating point mode of a host thread while guest threads run on it, one after the other. It is put
/// back when the scope ends, so that a short guest thread pays for neither saving nor setting it.
class FpScope {
 public:
  FpScope();
  ~FpScope();
  FpScope(const FpScope&) = delete;
  FpScope& operator=(const FpScope&) = delete;

  /// MXCSR that is set now, without the sticky exception flags; an engine that leaves another one says so
  /// here.
  std::uint32_t set;
  static std::uint32_t current();

 private:
  std::uint32_t host_;
};

/// A translated function. Immutable; any number of host threads may run it at once, each with a state of its
/// own.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs until the status changes. `state` is layout().size bytes, 64-byte aligned. Only the state and what
  /// its environment reaches change; the host's floating point mode is as before on return. Before the first
  /// run the caller sets environment, budget, mask variable 0 (the dispatch mask) and registers, and clears
  /// the rest.
  Status run(ThreadState& state) const {
    FpScope scope;
    return run(state, scope);
  }
  /// The same within a scope of the calling host thread.
  virtual Status run(ThreadState& state, FpScope& scope) const = 0;
  const StateLayout& layout() const { return layout_; }
  /// Bytes of host code; 0 for an engine that makes none.
  virtual std::size_t code_bytes() const { return 0; }
  /// Host code annotated with guest instruction offsets; empty for an engine that makes none.
  virtual std::string listing() const { return {}; }

 protected:
  explicit Executable(const StateLayout& layout) : layout_(layout) {}

 private:
  StateLayout layout_;
};

struct CompileOptions {
  bool listing = false;  ///< keep what Executable::listing needs
  /// The caller looks at the register file after the end of the thread. Without it a register that no
  /// instruction reads any more need not be written.
  bool registers_live_at_exit = true;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  /// Translates `function`, which it may rewrite. The function is well formed: what comes from a text or a
  /// builder outside frontend/ goes through ir::verify first. An error names the op that the engine cannot
  /// do.
  virtual Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                                      const CompileOptions& options) = 0;
};

std::unique_ptr<Engine> make_reference_engine();
/// An error where the host lacks AVX2, FMA or BMI2.
Result<std::unique_ptr<Engine>> make_avx2_engine();

}  // namespace eum::jit
