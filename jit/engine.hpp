#pragma once
// The contract of an engine: it compiles a micro-op function into an Executable, which runs threads of it. A
// thread is a ThreadState: registers, flags, masks and where to continue; what it can access is its
// Environment. This header knows nothing of guest encodings, binaries or dispatch.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/limits.hpp"
#include "jit/optimisations.hpp"
#include "memory/base/result.hpp"
#include "memory/image/state_heap.hpp"
#include "memory/surface.hpp"

namespace eum::mem {
class AddressSpace;
namespace image {
struct SamplerState;
class KernelCache;
}  // namespace image
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
  Misaligned,       ///< atomic at an address that is not a multiple of its size
  Illegal,          ///< illegal instruction; `address` as for Unsupported
  Breakpoint,       ///< breakpoint exception, enabled in cr0.1; `address` as for Unsupported
  Software,         ///< software exception, enabled in cr0.1; `address` as for Unsupported
  ExternalHalt,     ///< external halt exception, enabled in cr0.1; `address` as for Unsupported
  RegisterMessage,  ///< message whose descriptors are in registers; `address` as for Unsupported
  BadRegister,      ///< indirect register access beyond the register file
  BadJump,          ///< jump_ip to an ip at which no block begins
  OutOfScratch,     ///< scratch access beyond the thread's scratch space; `address` is the offset in it
  Image,            ///< an image message that memory/image does not support; `reason` says why
  Refused,          ///< refused; `reason` says why, and lives as long as the executable
};

/// Faults whose `address` is the index of a text in Function::strings.
constexpr bool has_text(FaultKind kind) {
  return kind == FaultKind::Unsupported || kind == FaultKind::Illegal || kind == FaultKind::Breakpoint ||
         kind == FaultKind::Software || kind == FaultKind::ExternalHalt || kind == FaultKind::RegisterMessage;
}

/// The fault that an op of shape Trap raises.
constexpr FaultKind fault_of(ir::Op op) {
  switch (op) {
    case ir::Op::illegal:
      return FaultKind::Illegal;
    case ir::Op::breakpoint:
      return FaultKind::Breakpoint;
    case ir::Op::software_exception:
      return FaultKind::Software;
    case ir::Op::external_halt:
      return FaultKind::ExternalHalt;
    case ir::Op::register_message:
      return FaultKind::RegisterMessage;
    default:
      return FaultKind::Unsupported;
  }
}

/// A guest error. Plain data: engines write it, callers add thread and text.
struct Fault {
  FaultKind kind = FaultKind::None;
  std::uint32_t guest_ip = 0;  ///< byte offset in the kernel
  std::uint32_t lane = 0;
  std::uint32_t bytes = 0;  ///< of the access
  std::uint64_t address = 0;
  const char* reason = nullptr;  ///< for Image (a literal) and Refused
};

/// What callback ops call.
struct Callbacks {
  void* context = nullptr;
  /// Performs function `number` on the operands; fills every result. Must not throw, and must not touch the
  /// thread's register file.
  void (*call)(void* context, std::uint64_t number, std::span<const std::uint64_t> operands,
               std::span<std::uint64_t> results) = nullptr;
};

/// An access of an element that is not wholly inside a surface.
struct OutOfSurface {
  std::uint32_t guest_ip = 0;
  std::uint32_t surface = 0;  ///< index in the binding table
  std::uint32_t lane = 0;
  std::uint32_t bytes = 0;   ///< of the element
  std::uint64_t offset = 0;  ///< in the surface
  bool write = false;        ///< an atomic is a write
};

/// Is notified of accesses beyond surfaces, which still read 0 or are dropped. Engines report those that they
/// do not do in line: all of them where Surface::direct is 0.
struct BoundsObserver {
  void* context = nullptr;
  void (*outside)(void* context, const OutOfSurface& access) = nullptr;  ///< on any thread; must not throw
};

inline constexpr std::uint32_t scratch_granule = 64;
/// Whether the function accesses this memory.
bool uses_space(const ir::Function& function, ir::MemSpace space);

/// What a thread can access. Standard layout: translated code reads it.
struct Environment {
  const mem::Surface* surfaces = nullptr;  ///< the binding table: 256 entries; may be null: each is null
  /// Of this thread; zeroed as it begins in a batch of a function that uses MemSpace::Scratch. If it is
  /// reached only by addresses, as by calls on a stack, a thread sees what others have left, as in any memory
  /// that is accessed by address.
  std::byte* scratch = nullptr;
  std::uint64_t scratch_bytes = 0;         ///< a multiple of scratch_granule
  mem::AddressSpace* space = nullptr;      ///< A64 and A32; may be null: every access faults
  std::byte* slm = nullptr;                ///< of the thread group, whose threads never run at the same time
  mem::ReachableBytes slm_bytes = {};      ///< a multiple of scratch_granule where threads begin in a batch
  const Callbacks* callbacks = nullptr;    ///< may be null: every result is all ones
  const BoundsObserver* bounds = nullptr;  ///< may be null
  const mem::image::SamplerState* samplers = nullptr;
  std::uint32_t sampler_count = 0;
  mem::image::KernelCache* image_kernels = nullptr;  ///< may be null: images are accessed by definition
  std::uint32_t sampler_table = 0;  ///< the pointer in a sampler message's header that means samplers[0]
  /// Whether no other host thread accesses the memory while the thread runs: atomics then need no lock,
  /// stores no fence, and stores under a mask may write back bytes that they do not change.
  bool exclusive = false;
  mem::image::StateHeap heap = {};  ///< of bindless surfaces and samplers
};

/// Host memory of the region that an A64 or A32 access hit; none if the size is 0.
struct CachedRegion {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::byte* host = nullptr;
};

/// The initial state of a thread that begins in a batch, whichever group it belongs to. Standard layout:
/// translated code reads it.
struct ThreadBegin {
  /// The register file's first 32 bytes, except for what the group adds.
  alignas(32) std::array<std::uint32_t, 8> header{};
  const std::byte* restored = nullptr;  ///< contents of Executable::restored(), one slot after the other
  std::uint32_t mask = 0;               ///< dispatch mask
};

/// Bits that are or'ed into the headers of all threads of a group; dwords in CompileOptions::group_dwords
/// come from here alone.
struct alignas(32) GroupHeader {
  std::array<std::uint32_t, 8> bits{};
};

/// The fixed head of a thread's state. Flags, register file and mask variables follow it, see StateLayout.
struct ThreadState {
  const Environment* environment = nullptr;
  std::int64_t budget =
      INT64_MAX;             ///< guest instructions left; counted down block by block, checked at safepoints
  std::uint32_t resume = 0;  ///< block at which to continue; 0 = the beginning
  std::uint32_t barrier_signals = 0;  ///< barrier_signal ops executed
  std::uint32_t fp_mode = 0;   ///< cr0.0 as the last fpmode_set gave it, or as the caller starts the thread
  std::uint32_t fp_mixed = 0;  ///< an engine's copy of fp_mixed(fp_mode) while it runs
  ThreadBegin begin;           ///< for threads that begin with this state
  Fault fault;
  /// For a function whose threads may wait: why the thread's last run in a batch ended, Exited or Waiting;
  /// `budget` and mask variable 0 are then up to date, too.
  Status stopped = Status::Exited;
};

/// Where the variable parts of a thread's state are, in bytes from the ThreadState.
struct StateLayout {
  std::uint32_t flags = 0;    ///< flag bit i: bit i % 8 of byte i / 8; followed by 8 bytes of padding
  std::uint32_t file = 0;     ///< register file, 64-byte aligned
  std::uint32_t masks = 0;    ///< u32 for each mask variable; [0] is the execution mask
  std::uint32_t regions = 0;  ///< region_count CachedRegions, 64-byte aligned: an engine's cache
  std::uint32_t region_count = 0;
  std::uint32_t size = 0;  ///< of the whole, a multiple of 64

  static StateLayout of(const ir::Function& function) {
    constexpr auto up = [](std::uint32_t n) { return (n + 63) & ~63u; };
    StateLayout layout;
    layout.flags = (sizeof(ThreadState) + 7) & ~7u;
    layout.file = up(layout.flags + function.flag_bits / 8 + 8);
    layout.masks = up(layout.file + function.file_bytes + beyond_file_bytes);
    layout.regions = up(layout.masks + 4 * function.mask_variables);
    layout.region_count = regions_of_all(function);
    layout.size = up(layout.regions + layout.region_count * std::uint32_t{sizeof(CachedRegion)});
    return layout;
  }
  bool operator==(const StateLayout&) const = default;
  /// Padding after the register file, to which an engine may write what is not needed.
  static constexpr std::uint32_t beyond_file_bytes = 8;
  /// The next state in an array of states.
  ThreadState* next(ThreadState& state) const {
    return reinterpret_cast<ThreadState*>(reinterpret_cast<std::byte*>(&state) + size);
  }
  static constexpr std::uint32_t narrow_region_count = 4, most_regions = 128;
  /// The regions for accesses of this space. Accesses by 32-bit addresses have regions of their own, as those
  /// end at 4 GiB.
  std::pair<std::uint32_t, std::uint32_t> regions_for(ir::MemSpace space) const {
    return space == ir::MemSpace::A32 ? std::pair{0u, narrow_region_count}
                                      : std::pair{narrow_region_count, region_count};
  }
  CachedRegion* regions_of(ThreadState& state) const {
    return reinterpret_cast<CachedRegion*>(reinterpret_cast<std::byte*>(&state) + regions);
  }
  /// The caller calls this when the address space changes.
  void forget_regions(ThreadState& state) const {
    for (std::uint32_t i = 0; i < region_count; ++i) regions_of(state)[i] = {};
  }
  std::byte* flags_of(ThreadState& state) const { return reinterpret_cast<std::byte*>(&state) + flags; }
  std::byte* file_of(ThreadState& state) const { return reinterpret_cast<std::byte*>(&state) + file; }
  std::uint32_t* masks_of(ThreadState& state) const {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(&state) + masks);
  }

 private:
  /// narrow_region_count and one for each access of the address space, at most most_regions; 0 without
  /// accesses.
  static std::uint32_t regions_of_all(const ir::Function& function);
};

/// The architectural state of a thread, independent of any engine: what is saved, compared, inspected, and
/// continued, by the same engine or another.
struct ThreadImage {
  std::uint32_t ip = 0;  ///< byte offset of the next guest instruction, or of the one that faulted
  std::vector<std::byte> registers;  ///< the register file: general, then architecture registers
  std::vector<std::byte> flags;      ///< flag bit i: bit i % 8 of byte i / 8
  std::uint32_t execution_mask = 0;
  std::vector<std::uint32_t>
      parked;                 ///< channels in mask variable k + 1; Function::park_ips says where they wait
  std::uint32_t fp_mode = 0;  ///< cr0.0
  std::uint32_t barrier_signals = 0;

  bool operator==(const ThreadImage&) const = default;
};

/// The floating point mode of a host thread while guest threads run on it, one after the other. It is
/// restored when the scope ends, so that a short guest thread pays for neither saving nor setting it.
class FpScope {
 public:
  FpScope();
  ~FpScope();
  FpScope(const FpScope&) = delete;
  FpScope& operator=(const FpScope&) = delete;

  /// The current MXCSR, without the sticky exception flags; an engine that leaves another one records it
  /// here.
  std::uint32_t set;
  static std::uint32_t current();

 private:
  std::uint32_t host_;
};

/// A run of bytes of the register file.
struct FileRange {
  std::uint32_t offset = 0, bytes = 0;
  bool operator==(const FileRange&) const = default;
};

/// Threads that run one after the other, as long as each exits or waits. Their states are layout().size bytes
/// apart, and their environments differ in scratch memory only. Either all of them begin, group after group
/// in the same states, or all continue where they have stopped. A thread that is a group of its own begins
/// with shared local memory zeroed; for other groups the caller does that. Standard layout: translated code
/// reads it.
struct ThreadBatch {
  ThreadState* state = nullptr;     ///< of the thread that runs first; afterwards of the one that ran last
  std::uint32_t threads = 0;        ///< count; afterwards without those that have exited or wait
  std::uint32_t fp_mode = 0;        ///< cr0.0 that a thread begins with
  std::uint32_t fp_mixed = 0;       ///< for the engine's own use
  std::uint32_t group_threads = 0;  ///< how many each group has
  const GroupHeader* groups = nullptr;  ///< of the first thread's group, then others; null: threads continue
  ThreadState* group_states = nullptr;  ///< where each group's threads begin
  /// The number of the barrier at which each thread of the group waits next; 0: they differ. An engine may
  /// begin another turn when all of them have reached it, and have signalled it, ...
  std::uint32_t waits = 0;
  std::uint32_t turns = 0;   ///< ... and counts turns here; each thread's budget is for all of them
  std::uint32_t exited = 0;  ///< in code that waits: how many threads of the group have exited
  /// For code that waits, if all threads of a group begin: how many groups may follow, each once all threads
  /// of the one before have exited. Counted down; members about threads are then about the last group that
  /// has begun, where ThreadState::barrier_signals of threads that have not begun is meaningless.
  std::uint32_t more_groups = 0;
  std::int64_t granted = 0;  ///< guest instructions that each thread may execute
  /// Guest instructions that all threads together may execute, at least `granted`; counted down as threads
  /// stop. The next thread runs only while at least `granted` are left.
  std::int64_t left = 0;

  /// A promise like LaunchFacts::ids: in so many threads of each group, from its first one on, ids change
  /// from thread to thread as LaunchFacts::id_steps says, and all channels are active. All threads, none, or
  /// where each thread is a line all but the last.
  std::uint32_t ids_go_on = 0;

  // For the engine's own use: what it runs at once.
  const ThreadState* last = nullptr;    ///< of each group
  std::uint64_t whole_groups = 1;       ///< that are left, counting this one
  const GroupHeader* header = nullptr;  ///< of this group, in code that waits
  std::uint32_t turn_threads = ~0u;     ///< the threads of a turn, if other turns may follow it
  std::uint32_t strip = 0;     ///< how many lines of each group in which ids go on follow the first one
  std::uint32_t between = 0;   ///< as strip, without the group's first and last threads
  bool last_is_apart = false;  ///< in the last thread of each group ids do not go on
};

/// How a function uses the register file, for code that prepares threads: ranges in ascending order.
struct RegisterUse {
  std::vector<FileRange> read;     ///< may be read before the function has written it
  std::vector<FileRange> written;  ///< may be written
};
/// The bytes that are in both lists.
std::vector<FileRange> intersection(const RegisterUse& use);
/// The slots of the register file, after its header, that hold any bytes that are in both lists.
std::vector<FileRange> restored_slots(const RegisterUse& use);

/// The size of slots in which registers are restored for a thread that begins.
inline constexpr std::uint32_t restored_slot_bytes = 32;

/// Where the host code of a guest instruction begins; it ends where the next place begins.
struct HostPlace {
  static constexpr std::uint32_t no_ip = ~std::uint32_t{0};  ///< for code that belongs to no instruction
  std::uint32_t offset = 0;
  std::uint32_t guest_ip = no_ip;
};

/// Host code and what each part of it is for, in ascending order; nothing for an engine that makes none.
struct HostMap {
  const std::byte* code = nullptr;
  std::size_t bytes = 0;
  std::span<const HostPlace> places;  ///< empty unless CompileOptions::listing
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
  ///
  /// CompileOptions::exact_registers says what the state holds on return. After a fault it is as before the
  /// guest instruction at Fault::guest_ip, except for memory that the instruction has changed.
  Status run(ThreadState& state) const {
    FpScope scope;
    return run(state, scope);
  }
  /// The same within a scope of the calling host thread.
  virtual Status run(ThreadState& state, FpScope& scope) const = 0;
  /// Runs the threads of a batch. The status is that of the thread that ran last; for threads before it,
  /// ThreadState::stopped says it, if any may wait. Exited or Waiting with threads left: ThreadBatch::left
  /// does not suffice for the next one.
  virtual Status run(ThreadBatch& batch, FpScope& scope) const;
  const StateLayout& layout() const { return layout_; }
  const RegisterUse& register_use() const { return register_use_; }
  /// The slots that are restored for a thread that begins in a batch, as whole slots after the header: those
  /// that the code may read before it has written them, and may write. What a thread does thus never depends
  /// on the thread whose state it reuses. Ascending.
  std::span<const FileRange> restored() const { return restored_; }
  /// Clears what the function may read in a state that has held a thread of the same layout: everything but
  /// registers that it does not read before it writes them.
  void clear(ThreadState& state) const;
  /// Bytes of host code; 0 for an engine that makes none.
  virtual std::size_t code_bytes() const { return 0; }
  /// Bytes that are kept beside the code for as long as it lives, without listing and places.
  virtual std::size_t metadata_bytes() const;
  /// Host code annotated with guest instruction offsets; empty for an engine that makes none.
  virtual std::string listing() const { return {}; }
  /// Valid as long as the executable.
  virtual HostMap host_map() const { return {}; }

  /// ip of the next guest instruction of a thread that is paused or waits; save() gives it too.
  std::uint32_t next_ip(const ThreadState& state) const {
    return state.resume < block_ips_.size() ? block_ips_[state.resume] : 0;
  }
  /// The architectural state of a thread that `run` has left with `status`, or that has not run yet
  /// (Paused).
  ThreadImage save(ThreadState& state, Status status) const;
  /// Makes `state` continue from `image`, which another executable of the same guest code may have saved. The
  /// error says that the image's registers, flags or masks do not match, or that no block begins at its ip.
  /// Environment and budget are unchanged.
  Result<void> restore(const ThreadImage& image, ThreadState& state) const;

 protected:
  /// Moves on to the next thread of the batch.
  void advance(ThreadBatch& batch) const;
  /// By default everything counts as read and written.
  explicit Executable(const ir::Function& function, std::optional<RegisterUse> use = std::nullopt);

 private:
  void begin(ThreadBatch& batch) const;

  StateLayout layout_;
  RegisterUse register_use_;
  std::vector<FileRange> restored_;
  std::uint32_t file_bytes_, flag_bytes_, mask_variables_;
  bool uses_scratch_;
  std::vector<std::uint32_t> block_ips_;
};

/// Where a thread whose budget is used up may pause, besides blocks that are marked as safepoints.
enum class Safepoints : std::uint8_t {
  BackEdges,     ///< at targets of back edges
  Messages,      ///< and after each message, where lowering then begins a block
  Instructions,  ///< at every block, which lowering then begins at each guest instruction
};

/// How local ids change from thread to thread of a group, by row of ir::ConsecutiveIds. Threads form lines,
/// one after the other, as where a row of work-items takes several threads.
struct IdSteps {
  using ByRow = std::array<std::uint32_t, 3>;
  ByRow by_line{};  ///< how much higher ids are in a thread than in the same one of the line before
  ByRow in_line{};  ///< how much higher than in the thread before of the same line; all 0 if lines have one
  std::uint32_t line_threads = 1;

  bool any() const { return *this != IdSteps{}; }
  bool operator==(const IdSteps&) const = default;
};

/// A dword of the register file with the value that it has at the start of every thread.
struct KnownRegister {
  std::uint32_t offset = 0, value = 0;
};

/// What is the same in all threads that begin in a launch.
struct LaunchFacts {
  /// A thread that breaks the promise computes nonsense, but can access nothing more than otherwise.
  ir::ConsecutiveIds ids = {};
  /// Exactly the lowest `channels` channels are active as a thread begins; 0: nothing is promised. The caller
  /// must guarantee it, for restored threads too: code does not check addresses of other channels.
  std::uint32_t channels = 0;
  bool lone_threads = false;  ///< each is a group of its own
  /// What holds where ThreadBatch::ids_go_on is set; none: it is set nowhere.
  IdSteps id_steps = {};
  /// Threads are restored only from images that this executable has saved, if at all: loops may have been
  /// removed, and with them the blocks in which threads of another executable may have paused.
  bool own_images = false;
  std::vector<ir::PointerArgument> pointers = {};  ///< of every thread that begins
  /// No two surfaces of the binding table share memory, and all are host memory that no thread reaches in
  /// another way, but by addresses.
  bool disjoint_surfaces = false;
  /// Threads access more than the host's caches hold: prefetching pays.
  bool beyond_caches = false;
  bool operator==(const LaunchFacts&) const = default;
};

struct CompileOptions {
  bool listing = false;  ///< keep what Executable::listing and the places of host_map need
  /// Whenever the thread stops, its registers and flags hold exactly what the function has written. Otherwise
  /// registers and flags that no instruction reads any more may hold older values, and a thread that has
  /// faulted cannot be continued.
  bool exact_registers = true;
  Safepoints safepoints = Safepoints::BackEdges;
  /// An engine may rely on the part that promised() returns.
  LaunchFacts launch = {};
  /// cr0.0, promised likewise: promised_control().
  std::optional<KnownRegister> control = {};
  /// Bit d: dword d of ThreadBegin::header is 0, as threads get it from their group.
  std::uint32_t group_dwords = 0;
  Limits limits = {};
  Optimisations optimisations = {};  ///< for an engine that has any

  /// No promises if a thread may continue from registers that somebody else has set.
  LaunchFacts promised() const {
    return keeps_promises() ? launch : LaunchFacts{.beyond_caches = launch.beyond_caches};
  }
  std::optional<KnownRegister> promised_control() const { return keeps_promises() ? control : std::nullopt; }

 private:
  bool keeps_promises() const { return !exact_registers && safepoints == Safepoints::BackEdges; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  /// Translates `function`, which it may rewrite. The function is well formed: one from a text or a builder
  /// outside frontend/ goes through ir::verify first. An error names the op that the engine does not support,
  /// or the limit that the function exceeds; or it says that the host has no memory.
  virtual Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                                      const CompileOptions& options) = 0;
};

/// The engines of this build, one per row of jit/engines.def.
enum class EngineKind : std::uint8_t {
#define JIT_ENGINE(name, ...) name,
#include "jit/engines.def"
#undef JIT_ENGINE
};

struct EngineInfo {
  EngineKind kind;
  std::string_view name;  ///< as the command line takes it
  std::string_view doc;
  /// An error if the host lacks what the engine needs.
  Result<std::unique_ptr<Engine>> (*make)();
};

/// Every row; and engines by name, for callers that choose one at compile time.
std::span<const EngineInfo> engines();
std::unique_ptr<Engine> make_reference_engine();
Result<std::unique_ptr<Engine>> make_avx2_engine();
/// Where the avx512 engine keeps masks; the results are the same.
enum class MaskHome : std::uint8_t { Registers, Lanes };
/// The faster one on this processor. AMD's take several cycles from a comparison to a mask register, to a
/// general one and back, and none of that for lanes of vectors; Intel's take three operations to blend by
/// lanes.
MaskHome faster_mask_home();
Result<std::unique_ptr<Engine>> make_avx512_engine(MaskHome masks = faster_mask_home());
const EngineInfo& info(EngineKind kind);
std::optional<EngineKind> parse_engine(std::string_view name);
/// "avx2, avx512, reference"
std::string engine_names();

}  // namespace eum::jit
