#pragma once
// What an engine is: it compiles a micro-op function into an Executable, which runs threads of it.
// A thread is a ThreadState: registers, flags, masks and where to go on; what it can reach is its
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

namespace eum::mem {
struct Surface;
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
  Misaligned,       ///< atomic at an address that is no multiple of its size
  Illegal,          ///< illegal instruction; `address` as of Unsupported
  Breakpoint,       ///< breakpoint exception, enabled in cr0.1; `address` as of Unsupported
  Software,         ///< software exception, enabled in cr0.1; `address` as of Unsupported
  ExternalHalt,     ///< external halt exception, enabled in cr0.1; `address` as of Unsupported
  RegisterMessage,  ///< message whose descriptors only registers know; `address` as of Unsupported
  BadRegister,      ///< indirect register access beyond the register file
  BadJump,          ///< jump_ip to where no block begins
  OutOfScratch,     ///< scratch access beyond the thread's scratch space; `address` is the offset in it
  Image,            ///< what an image message asks and memory/image does not have; `reason` says what
  Refused,          ///< what `reason` says, which lives as long as the executable
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
  const char* reason = nullptr;  ///< of Image, a literal, and Refused
};

/// What callback ops call.
struct Callbacks {
  void* context = nullptr;
  /// Does function `number` on the operands; fills every result. Must not throw, and must not touch the
  /// thread's register file.
  void (*call)(void* context, std::uint64_t number, std::span<const std::uint64_t> operands,
               std::span<std::uint64_t> results) = nullptr;
};

/// An element that a surface does not hold as a whole.
struct OutOfSurface {
  std::uint32_t guest_ip = 0;
  std::uint32_t surface = 0;  ///< index in the binding table
  std::uint32_t lane = 0;
  std::uint32_t bytes = 0;   ///< of the element
  std::uint64_t offset = 0;  ///< in the surface
  bool write = false;        ///< an atomic is a write
};

/// Who wants to know of accesses beyond surfaces, which read 0 or are dropped nevertheless. Engines tell of
/// those that they do not do in line: of all where Surface::direct is 0.
struct BoundsObserver {
  void* context = nullptr;
  void (*outside)(void* context, const OutOfSurface& access) = nullptr;  ///< on any thread; must not throw
};

inline constexpr std::uint32_t scratch_granule = 64;
/// The function has accesses of this memory.
bool uses_space(const ir::Function& function, ir::MemSpace space);

/// What a thread can reach. Standard layout: translated code reads it.
struct Environment {
  const mem::Surface* surfaces = nullptr;  ///< the binding table: 256 entries; may be null: each is null
  /// Of this thread; zeroed as it begins in a batch of a function that uses MemSpace::Scratch. Where only
  /// addresses lead there, as from calls on a stack, a thread finds what others left, as in any memory by
  /// address.
  std::byte* scratch = nullptr;
  std::uint64_t scratch_bytes = 0;         ///< a multiple of scratch_granule
  mem::AddressSpace* space = nullptr;      ///< A64 and A32; may be null: every access faults
  std::byte* slm = nullptr;                ///< of the thread group, whose threads never run at the same time
  std::uint64_t slm_bytes = 0;             ///< a multiple of scratch_granule where threads begin in a batch
  const Callbacks* callbacks = nullptr;    ///< may be null: every result is all ones
  const BoundsObserver* bounds = nullptr;  ///< may be null
  const mem::image::SamplerState* samplers = nullptr;
  std::uint32_t sampler_count = 0;
  mem::image::KernelCache* image_kernels = nullptr;  ///< may be null: images are accessed by definition
  std::uint32_t sampler_table = 0;  ///< the pointer in a sampler message's header that means samplers[0]
  mem::image::StateHeap heap = {};  ///< of bindless surfaces and samplers
};

/// Host memory of the address space that an A64 or A32 access hit; none if the size is 0.
struct CachedRegion {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::byte* host = nullptr;
};

/// What a thread that begins in a batch finds, whichever group it is of. Standard layout: translated code
/// reads it.
struct ThreadBegin {
  /// The register file's first 32 bytes, but for what the group gives them.
  alignas(32) std::array<std::uint32_t, 8> header{};
  const std::byte* restored = nullptr;  ///< contents of Executable::restored(), one slot after the other
  std::uint32_t mask = 0;               ///< dispatch mask
};

/// Bits that come to the headers of all threads of a group; what CompileOptions::group_dwords says comes from
/// here alone.
struct alignas(32) GroupHeader {
  std::array<std::uint32_t, 8> bits{};
};

/// The fixed head of a thread's state. Flags, register file and mask variables follow it, see StateLayout.
struct ThreadState {
  const Environment* environment = nullptr;
  std::int64_t budget =
      INT64_MAX;             ///< guest instructions left; counted down block by block, checked at safepoints
  std::uint32_t resume = 0;  ///< block to go on at; 0 = the beginning
  std::uint32_t barrier_signals = 0;  ///< barrier_signal ops executed
  std::uint32_t fp_mode = 0;   ///< cr0.0 as the last fpmode_set gave it, or as the caller starts the thread
  std::uint32_t fp_mixed = 0;  ///< an engine's copy of fp_mixed(fp_mode) while it runs
  ThreadBegin begin;           ///< for each thread that begins here
  Fault fault;
  /// Why the thread's last run in a batch ended, exited or waiting, of a function whose threads may wait;
  /// `budget` and mask variable 0 are up to date then, too.
  Status stopped = Status::Exited;
};

/// Where the variable parts of a thread's state lie, in bytes from the ThreadState.
struct StateLayout {
  std::uint32_t flags = 0;    ///< flag bit i: bit i % 8 of byte i / 8; 8 bytes more than there are flags
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
  /// Behind the register file: an engine may write here what nobody wants.
  static constexpr std::uint32_t beyond_file_bytes = 8;
  /// The state behind this one in an array of them.
  ThreadState* next(ThreadState& state) const {
    return reinterpret_cast<ThreadState*>(reinterpret_cast<std::byte*>(&state) + size);
  }
  static constexpr std::uint32_t narrow_region_count = 4, most_regions = 128;
  /// Those for accesses of this space. Accesses of 32-bit addresses have their own, as what these hold ends
  /// at 4 GiB.
  std::pair<std::uint32_t, std::uint32_t> regions_for(ir::MemSpace space) const {
    return space == ir::MemSpace::A32 ? std::pair{0u, narrow_region_count}
                                      : std::pair{narrow_region_count, region_count};
  }
  CachedRegion* regions_of(ThreadState& state) const {
    return reinterpret_cast<CachedRegion*>(reinterpret_cast<std::byte*>(&state) + regions);
  }
  /// For the caller, where the address space changes.
  void forget_regions(ThreadState& state) const {
    for (std::uint32_t i = 0; i < region_count; ++i) regions_of(state)[i] = {};
  }
  std::byte* flags_of(ThreadState& state) const { return reinterpret_cast<std::byte*>(&state) + flags; }
  std::byte* file_of(ThreadState& state) const { return reinterpret_cast<std::byte*>(&state) + file; }
  std::uint32_t* masks_of(ThreadState& state) const {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(&state) + masks);
  }

 private:
  /// One for each access of the address space, if it has any.
  static std::uint32_t regions_of_all(const ir::Function& function);
};

/// The architectural state of a thread, apart from any engine: what is saved, compared, inspected, and
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

/// A run of bytes of the register file.
struct FileRange {
  std::uint32_t offset = 0, bytes = 0;
  bool operator==(const FileRange&) const = default;
};

/// Threads that run one after the other, as long as each exits or waits. Their states lie layout().size bytes
/// apart, and their environments differ in scratch memory only. Either all of them begin, group after group
/// in the same states, or all go on where they have stopped. A thread that is its group finds shared local
/// memory zeroed as it begins; for others the caller does it. Standard layout: translated code reads it.
struct ThreadBatch {
  ThreadState* state = nullptr;     ///< of the thread that runs first; afterwards of the one that ran last
  std::uint32_t threads = 0;        ///< how many; afterwards less those that have exited or wait
  std::uint32_t fp_mode = 0;        ///< cr0.0 that a thread begins with
  std::uint32_t fp_mixed = 0;       ///< an engine's own
  std::uint32_t group_threads = 0;  ///< how many each group has
  const GroupHeader* groups = nullptr;  ///< of the first thread's group, others follow; null: they go on
  ThreadState* group_states = nullptr;  ///< where each group's threads begin
  /// At which of its barriers each thread of the group is when it waits next; 0: that differs. An engine may
  /// begin another turn where all of them have come to it, and have signalled it, ...
  std::uint32_t waits = 0;
  std::uint32_t turns = 0;   ///< ... and says here how many it has; each thread's budget is for all of them
  std::uint32_t exited = 0;  ///< of code that waits: how many threads of the group have exited
  /// Of code that waits, where all threads of a group begin: how many groups may follow, each once all
  /// threads of the one before have exited. Counted down; what is said of threads is of the group begun last,
  /// of which ThreadState::barrier_signals of threads that have not begun says nothing.
  std::uint32_t more_groups = 0;
  std::int64_t granted = 0;  ///< guest instructions that each may execute
  /// Guest instructions that all together may execute, at least `granted`; counted down as threads stop. The
  /// next one runs only while there are as many as `granted`.
  std::int64_t left = 0;

  // An engine's own: what it runs at once.
  const ThreadState* last = nullptr;    ///< of each group
  std::uint64_t whole_groups = 1;       ///< that are left, counting this one
  const GroupHeader* header = nullptr;  ///< of this one, where code waits
  std::uint32_t turn_threads = ~0u;     ///< all that a turn is of, if others may follow it
};

/// What a function does to the register file, for who prepares threads: ranges in ascending order.
struct RegisterUse {
  std::vector<FileRange> read;     ///< may be read before the function has written it
  std::vector<FileRange> written;  ///< may be written
};
/// The bytes that are in both lists.
std::vector<FileRange> intersection(const RegisterUse& use);
/// The slots of a register file of so many bytes, behind its header, that hold any of these bytes.
std::vector<FileRange> restored_slots(const RegisterUse& use);

/// Registers are brought back for a thread that begins in slots of this size.
inline constexpr std::uint32_t restored_slot_bytes = 32;

/// Where host code that does a guest instruction begins; it ends where the next one begins.
struct HostPlace {
  static constexpr std::uint32_t no_ip = ~std::uint32_t{0};  ///< does what belongs to no instruction
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
  /// What the state holds on return is said by CompileOptions::exact_registers. A fault leaves it as it was
  /// before the guest instruction at Fault::guest_ip, as far as that has not changed memory.
  Status run(ThreadState& state) const {
    FpScope scope;
    return run(state, scope);
  }
  /// The same within a scope of the calling host thread.
  virtual Status run(ThreadState& state, FpScope& scope) const = 0;
  /// Runs the threads of a batch. The status is that of the thread that ran last; for threads before it,
  /// ThreadState::stopped says it, where any may wait. Exited or Waiting with threads left: ThreadBatch::left
  /// does not do for the next one.
  virtual Status run(ThreadBatch& batch, FpScope& scope) const;
  const StateLayout& layout() const { return layout_; }
  const RegisterUse& register_use() const { return register_use_; }
  /// Which slots a thread of a batch brings back as it begins, in whole slots behind the header: those that
  /// the code may read before it has written them, and may have written. What a thread does never depends on
  /// the thread whose state it takes over. Ascending.
  std::span<const FileRange> restored() const { return restored_; }
  /// Clears what the function may look at in a state that has held a thread of the same layout: all but
  /// registers that it does not read before it writes them.
  void clear(ThreadState& state) const;
  /// Bytes of host code; 0 for an engine that makes none.
  virtual std::size_t code_bytes() const { return 0; }
  /// Bytes that are kept beside the code for as long as it lives, listing and places apart.
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
  /// Makes `state` go on from `image`, which another executable of the same guest code may have saved. The
  /// error says that the image's registers, flags or masks are others, or that no block begins at its ip.
  /// Environment and budget stay as they are.
  Result<void> restore(const ThreadImage& image, ThreadState& state) const;

 protected:
  /// To the thread that follows in the batch.
  void advance(ThreadBatch& batch) const;
  /// By default everything is read and written.
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

/// Where a thread whose budget is used up may pause, beside blocks that are marked as safepoints.
enum class Safepoints : std::uint8_t {
  BackEdges,     ///< at blocks that control comes back to
  Messages,      ///< and behind each message, where lowering then begins a block
  Instructions,  ///< at every block, which lowering then begins at each guest instruction
};

/// What the caller promises of the local ids of the channels that threads begin with, which are the lowest
/// ones: `count` elements of 16 bits from byte `offset` of the register file on go up by 1 within each `run`
/// of them, from a multiple of `run`, and none is above 0x7fff. Those of the rows behind it, if there are
/// any, are then all the same.
struct ConsecutiveIds {
  std::uint32_t offset = 0;
  std::uint32_t count = 0;
  std::uint32_t run = 0;  ///< a power of two; 0: nothing is promised
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;  ///< from one row to the next, where there are several

  std::uint32_t end() const { return offset + (rows - 1) * row_bytes + 2 * count; }
  bool operator==(const ConsecutiveIds&) const = default;
};

/// A dword of the register file that every thread begins with.
struct KnownRegister {
  std::uint32_t offset = 0, value = 0;
};

/// What is the same in all threads that begin in a launch.
struct LaunchFacts {
  /// A thread that breaks it computes nonsense, but reaches nothing that it could not reach otherwise.
  ConsecutiveIds ids = {};
  /// The lowest so many channels are on as a thread begins, and no others; 0: nothing is promised. The caller
  /// has to see to it, where threads are restored too: of other channels code checks no address.
  std::uint32_t channels = 0;
  bool lone_threads = false;  ///< each is a group of its own
  /// Threads are restored only from images that this executable has saved, if at all: loops may be gone, and
  /// with them the blocks in which those of another one may have paused.
  bool own_images = false;
  /// What threads access is more than the host's caches hold: it is worth fetching ahead.
  bool beyond_caches = false;
  bool operator==(const LaunchFacts&) const = default;
};

struct CompileOptions {
  bool listing = false;  ///< keep what Executable::listing and the places of host_map need
  /// Whenever the thread stops, its registers and flags hold exactly what the function has written. Without
  /// it those that no instruction reads any more may hold what they held before, and a thread that has
  /// faulted cannot be continued.
  bool exact_registers = true;
  Safepoints safepoints = Safepoints::BackEdges;
  /// An engine may rely on what promised() gives of it.
  LaunchFacts launch = {};
  /// cr0.0, promised likewise: promised_control().
  std::optional<KnownRegister> control = {};
  /// Bit d: ThreadBegin::header is 0 in dword d, which threads have from their group.
  std::uint32_t group_dwords = 0;
  Limits limits = {};
  Optimisations optimisations = {};  ///< for an engine that has any

  /// Nothing where a thread may go on from registers that somebody else has set.
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
  /// Translates `function`, which it may rewrite. The function is well formed: what comes from a text or a
  /// builder outside frontend/ goes through ir::verify first. An error names the op that the engine cannot
  /// do, or the limit that the function exceeds; or it is one of the host, which has no memory for it.
  virtual Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                                      const CompileOptions& options) = 0;
};

/// The engines that this build has: a row of jit/engines.def each.
enum class EngineKind : std::uint8_t {
#define JIT_ENGINE(name, ...) name,
#include "jit/engines.def"
#undef JIT_ENGINE
};

struct EngineInfo {
  EngineKind kind;
  std::string_view name;  ///< as the command line takes it
  std::string_view doc;
  /// An error where the host lacks what the engine needs.
  Result<std::unique_ptr<Engine>> (*make)();
};

/// Every row; and engines by name, for who knows at compile time which one it wants.
std::span<const EngineInfo> engines();
std::unique_ptr<Engine> make_reference_engine();
Result<std::unique_ptr<Engine>> make_avx2_engine();
Result<std::unique_ptr<Engine>> make_avx512_engine();
const EngineInfo& info(EngineKind kind);
std::optional<EngineKind> parse_engine(std::string_view name);
/// "avx2, avx512, reference"
std::string engine_names();

}  // namespace eum::jit
