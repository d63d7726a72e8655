// The engines that translate: passes, translation, executable memory.
#include <asmjit/x86.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>

#include "frontend/ir/printer.hpp"
#include "jit/analysis/row_stores.hpp"
#include "jit/analysis/row_walks.hpp"
#include "jit/avx2/compiler.hpp"
#include "jit/avx2/emit/emit.hpp"
#include "jit/code_memory.hpp"
#include "jit/codegen/bug.hpp"
#include "jit/engine.hpp"
#include "jit/fpmode.hpp"
#include "jit/passes/control.hpp"
#include "jit/passes/few_channels.hpp"
#include "jit/passes/passes.hpp"
#include "memory/base/within_host.hpp"

namespace eum::jit {
namespace avx2 {
namespace {

using Entry = std::uint32_t (*)(ThreadBatch*);

/// Limit of the code's host stack frame: more means that the translation went wrong, and would not fit a
/// thread's stack.
constexpr int most_frame_bytes = 256 * 1024;

/// The slots that are live where a thread begins, and those that some block writes.
RegisterUse register_use_of(const ir::Function& function, const Liveness& liveness) {
  BitSet read = liveness.live_in(0).active | liveness.live_in(0).inactive, written(liveness.slots());
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      if (inst.op == ir::Op::reg_scatter) written.set_range(0, liveness.indirect_slots());
      if (inst.op != ir::Op::reg_write) continue;
      const SlotRange range = slots_of(inst, liveness.slot_bytes());
      written.set_range(range.first, range.last - range.first + 1);
    }
  const auto ranges = [&](const BitSet& slots) {
    std::vector<FileRange> list;
    const unsigned bytes = liveness.slot_bytes();
    for (unsigned slot = 0; slot < liveness.slots(); ++slot) {
      if (!slots[slot]) continue;
      const std::uint32_t end = std::min((slot + 1) * bytes, function.file_bytes);
      if (!list.empty() && list.back().offset + list.back().bytes == slot * bytes)
        list.back().bytes = end - list.back().offset;
      else
        list.push_back({slot * bytes, end - slot * bytes});
    }
    return list;
  };
  return {ranges(read), ranges(written)};
}

class HostExecutable final : public Executable {
 public:
  HostExecutable(const ir::Function& function, RegisterUse use, const BatchCode& batches,
                 std::unique_ptr<CodeData> data, CodeMemory code, std::size_t entry, std::size_t code_bytes,
                 std::string listing, std::vector<HostPlace> places)
      : Executable(function, std::move(use)),
        batches_(batches),
        data_(std::move(data)),
        code_(std::move(code)),
        entry_(reinterpret_cast<Entry>(code_.data() + entry)),
        code_bytes_(code_bytes),
        listing_(std::move(listing)),
        places_(std::move(places)) {}

  Status run(ThreadState& state, FpScope& scope) const override {
    if (state.resume == 0) state.fp_mode = first_mode(state.fp_mode, scope);
    state.fp_mixed = fp_mixed(state.fp_mode);
    ThreadBatch alone;
    alone.state = &state;
    alone.last = &state;
    alone.granted = state.budget;
    return enter(alone, state.fp_mode, scope);
  }
  Status run(ThreadBatch& batch, FpScope& scope) const override {
    if (batch.groups != nullptr && !batches_.begins_threads) return Executable::run(batch, scope);
    const std::uint32_t given = batch.fp_mode;
    for (;;) {
      const bool begins = batch.groups != nullptr;
      ThreadState& first = *batch.state;
      set_modes(batch, begins ? first_mode(given, scope) : first.fp_mode);
      if (!begins) first.fp_mixed = batch.fp_mixed;
      const std::uint32_t before = begins ? count(*batch.group_states, first) : 0;
      const GroupHeader* const first_group = batch.groups;
      const std::uint32_t planned = plan(batch, before);
      if (begins) prepare(batch);
      const std::uint64_t groups = batch.whole_groups;
      if (batches_.goes_on && !begins) grant(first, planned, batch.granted);
      const Status status = enter(batch, batch.fp_mode, scope);
      std::uint32_t done = planned - 1;
      if (batches_.goes_on) {
        batch.more_groups -= static_cast<std::uint32_t>(groups - batch.whole_groups);
        if (batch.state != batch.last) done = count(first, *batch.state);
        batch.left -= used(first, batch.turns != 0 ? planned : done + 1, batch.granted);
      } else {
        if (batch.state != batch.last || batch.whole_groups != 1) {
          const auto over = static_cast<std::uint32_t>(batch.groups - first_group);
          done =
              over * batch.group_threads - before + count(begins ? *batch.group_states : first, *batch.state);
        }
        batch.left -= batch.granted - batch.state->budget;
      }
      batch.threads -= done;
      if (status != Status::Exited && status != Status::Waiting) return status;
      if (--batch.threads == 0 || batch.left < batch.granted) return status;
      advance(batch);
    }
  }
  std::size_t code_bytes() const override { return code_bytes_; }
  std::size_t metadata_bytes() const override {
    return Executable::metadata_bytes() + sizeof *this + data_->bytes();
  }
  std::string listing() const override { return listing_; }
  HostMap host_map() const override { return {code_.data(), code_bytes_, places_}; }

 private:
  /// Both in one store: translated code loads them as one and need not wait for two stores.
  static void set_modes(ThreadBatch& batch, std::uint32_t mode) {
    const std::array<std::uint32_t, 2> modes{mode, fp_mixed(mode)};
    std::uint64_t both = 0;
    std::memcpy(&both, modes.data(), sizeof both);
    std::memcpy(reinterpret_cast<std::byte*>(&batch) + offsetof(ThreadBatch, fp_mode), &both, sizeof both);
  }
  /// The mode that a thread begins with. Most threads set the mode that the thread before has left: to begin
  /// with it leaves MXCSR unchanged.
  std::uint32_t first_mode(std::uint32_t given, const FpScope& scope) const {
    if (batches_.mode.usual) return *batches_.mode.usual;
    const std::uint32_t usual = usual_mode_.load(std::memory_order_relaxed);
    return batches_.mode.first && fp_mode_mxcsr(usual) == scope.set ? usual : given;
  }
  /// Sets in the states of the planned threads what code does not set as each thread begins, because every
  /// thread leaves it like that.
  void prepare(ThreadBatch& batch) const {
    batch.state->fp_mode = batch.fp_mode;
    for (ThreadState* state = batch.state; state <= batch.last; state = layout().next(*state)) {
      if (batches_.mode.usual) {
        state->fp_mode = batch.fp_mode;
        state->fp_mixed = batch.fp_mixed;
      }
      if (!batches_.signals) state->resume = state->barrier_signals = 0;
    }
  }
  /// The number of states from `first` up to `state`, excluding it.
  std::uint32_t count(const ThreadState& first, const ThreadState& state) const {
    const auto bytes =
        reinterpret_cast<const std::byte*>(&state) - reinterpret_cast<const std::byte*>(&first);
    return bytes == 0 ? 0 : static_cast<std::uint32_t>(bytes) / layout().size;
  }
  /// Threads that continue take the budget from their states; threads that may wait leave there what remains.
  void grant(ThreadState& first, std::uint32_t threads, std::int64_t budget) const {
    ThreadState* state = &first;
    for (std::uint32_t t = 0; t < threads; ++t, state = layout().next(*state)) state->budget = budget;
  }
  std::int64_t used(ThreadState& first, std::uint32_t threads, std::int64_t granted) const {
    std::int64_t all = 0;
    ThreadState* state = &first;
    for (std::uint32_t t = 0; t < threads; ++t, state = layout().next(*state)) all += granted - state->budget;
    return all;
  }
  /// How many of the threads the allowance is sure to suffice for.
  std::uint32_t allowed(const ThreadBatch& batch) const {
    std::int64_t most = batch.granted;
    if (batches_.most_instructions) most = std::min(most, *batches_.most_instructions);
    const std::int64_t spare = batch.left - batch.granted;
    const std::uint32_t more = batch.threads - 1;
    constexpr std::int64_t far = std::int64_t{1} << 32;
    if (most < far && spare >= most * std::int64_t{more}) return batch.threads;
    return 1 + (spare > 0 ? static_cast<std::uint32_t>(std::min<std::int64_t>(spare / most, more)) : 0);
  }
  /// Decides which threads run before the allowance is checked again; returns how many. `before`: the threads
  /// of the first one's group that precede it.
  std::uint32_t plan(ThreadBatch& batch, std::uint32_t before) const {
    batch.whole_groups = 1;
    std::uint32_t threads = allowed(batch), planned = threads;
    if (batch.groups != nullptr && before == 0 && threads > batch.group_threads && !batches_.goes_on) {
      batch.whole_groups = threads / batch.group_threads;
      threads = batch.group_threads;
      planned = threads * static_cast<std::uint32_t>(batch.whole_groups);
    } else if (batch.groups != nullptr) {
      planned = threads = std::min(threads, batch.group_threads - before);
    } else if (!batches_.goes_on) {
      planned = threads = 1;
    }
    batch.last = reinterpret_cast<const ThreadState*>(reinterpret_cast<const std::byte*>(batch.state) +
                                                      std::size_t{threads - 1} * layout().size);
    plan_strip(batch, before, threads);
    const bool whole = batch.state == batch.group_states && planned == batch.group_threads;
    const bool turns = batch.waits != 0 && whole && batch.threads == planned && batches_.mode.usual;
    batch.turn_threads = turns ? planned : ~0u;
    if (turns && batch.groups != nullptr) {
      batch.whole_groups = std::uint64_t{1} + batch.more_groups;
      batch.header = batch.groups;
    }
    return planned;
  }
  /// For the batch's first `threads` threads.
  void plan_strip(ThreadBatch& batch, std::uint32_t before, std::uint32_t threads) const {
    constexpr std::uint32_t least_beside_last = 3;
    if (const std::uint32_t line = batches_.line_threads; line > 1) {
      const bool are_lines = batch.groups != nullptr && before == 0 && threads <= batch.ids_go_on;
      batch.strip = are_lines && threads % line == 0 ? threads / line - 1 : 0;
      return;
    }
    const bool begin = batch.groups != nullptr && batch.ids_go_on > before;
    const std::uint32_t go_on = begin ? std::min(threads, batch.ids_go_on - before) : 0;
    batch.last_is_apart = go_on < threads;
    batch.strip = go_on >= (batch.last_is_apart ? least_beside_last : 1) ? go_on - 1 : 0;
    batch.between = threads > 3 ? threads - 3 : 0;
  }
  /// `before`: the mode of the first thread.
  Status enter(ThreadBatch& batch, std::uint32_t before, FpScope& scope) const {
    if (const std::uint32_t mode = fp_mode_mxcsr(before); mode != scope.set) {
      _mm_setcsr(mode);
      scope.set = mode;
    }
    const auto status = static_cast<Status>(entry_(&batch));
    const std::uint32_t after = batch.state->fp_mode;
    if (after != before || status == Status::Faulted) scope.set = FpScope::current();
    if (after != usual_mode_.load(std::memory_order_relaxed))
      usual_mode_.store(after, std::memory_order_relaxed);
    return status;
  }

  BatchCode batches_;
  mutable std::atomic<std::uint32_t> usual_mode_ = 0;  ///< a guess: what threads have set
  std::unique_ptr<CodeData> data_;
  CodeMemory code_;
  Entry entry_;
  std::size_t code_bytes_;
  std::string listing_;
  std::vector<HostPlace> places_;
};

/// The first error of the assembler; emission continues, the result is dropped.
class FirstError final : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error reported, const char* message, asmjit::BaseEmitter*) override {
    if (first != asmjit::kErrorOk) return;
    first = reported;
    if (!no_memory()) text_ = message;
  }
  Error error(std::string_view function) const {
    if (no_memory()) return host_error("{}: the host has no memory for its code", function);
    return Error{fmt::format("{}: the assembler reports: {}", function, text_), Cause::Bug};
  }
  asmjit::Error first = asmjit::kErrorOk;

 private:
  bool no_memory() const { return first == asmjit::kErrorOutOfMemory; }
  std::string text_;
};

class HostEngine final : public Engine {
 public:
  explicit HostEngine(const Host& host) : host_(host) {}
  std::string_view name() const override { return info(host_.kind).name; }

  Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                              const CompileOptions& options) override {
    return within_host(function.name, [&]() -> Result<std::unique_ptr<Executable>> {
      try {
        return translate(function, options);
      } catch (const codegen::EngineBug& bug) {
        return Error{fmt::format("{}: {} (a bug of the engine {}, found in this function)\n{}", function.name,
                                 bug.what(), name(), ir::print(function)),
                     Cause::Bug};
      }
    });
  }

 private:
  Result<std::unique_ptr<Executable>> translate(ir::Function& function, const CompileOptions& options) const {
    const Limits& limits = options.limits;
    if (auto good = check(Limit::blocks, limits, function.name, function.blocks.size()); !good)
      return good.error();
    const LaunchFacts promised = options.promised();
    if (promised.lone_threads && options.optimisations[Optimisation::lone_threads]) lone_threads(function);
    mark_safepoints(function, options.safepoints);
    if (promised.channels != 0 && options.optimisations[Optimisation::few_channels])
      few_channels(function, promised.channels);
    if (const auto control = options.promised_control();
        control && options.optimisations[Optimisation::known_control])
      fold_control(function, *control);
    note_promises(function, promised, options.optimisations);
    if (auto done = run_pipeline(function, {.optimisations = options.optimisations,
                                            .exact_registers = options.exact_registers,
                                            .own_images = promised.own_images});
        !done)
      return done.error();
    asmjit::CodeHolder code;
    FirstError errors;
    asmjit::StringLogger logger;
    if (const asmjit::Error failed = code.init(asmjit::Environment::host()))
      return host_error("{}: the assembler reports: {}", function.name,
                        asmjit::DebugUtils::errorAsString(failed));
    code.setErrorHandler(&errors);
    if (options.listing) code.setLogger(&logger);
    Liveness liveness(function, target.vector_bytes, options.exact_registers);
    const LinearUses linear(function, liveness, options.optimisations[Optimisation::reconvergence]);
    const ScalarRuns runs(function, liveness, linear, options.optimisations);
    if (options.optimisations[Optimisation::first_lanes] && !runs.empty() && function.blocks.size() > 1) {
      // Accesses that are done by runs do not read the lanes' addresses.
      codegen::BlockCode code(function, liveness, runs, {});
      liveness.solve_again([&](ir::BlockId block, LiveState& live) {
        live = code.live_in(block, false);
        live |= code.live_in(block, true);
      });
    }
    auto data = std::make_unique<CodeData>();
    RegisterUse use = register_use_of(function, liveness);
    const std::vector<FileRange> restored = restored_slots(use);
    RowWalks walks;
    if (options.optimisations[Optimisation::row_windows]) walks = RowWalks(function, linear);
    RowStores row_stores;
    if (options.optimisations[Optimisation::row_stores]) row_stores = RowStores(function, linear);
    Compiler compiler(host_, function, liveness, runs, walks, row_stores, restored, options, code, *data);
    const auto entry = compiler.run(options.listing, limits);
    if (!entry) return entry.error();
    if (compiler.regs.frame_end() > most_frame_bytes)
      return error("{}: needs {} bytes of the host's stack, at most {} expected", function.name,
                   compiler.regs.frame_end(), most_frame_bytes);
    const auto failed = [&](asmjit::Error reported) {
      if (reported) errors.handleError(reported, asmjit::DebugUtils::errorAsString(reported), nullptr);
      return errors.first != asmjit::kErrorOk;
    };
    if (failed(code.flatten()) || failed(code.resolveUnresolvedLinks())) return errors.error(function.name);
    auto memory = CodeMemory::reserve(code.codeSize());
    if (!memory) return prefixed(function.name, memory.error());
    if (failed(code.relocateToBase(reinterpret_cast<std::uint64_t>(memory->data()))) ||
        failed(code.copyFlattenedData(memory->data(), memory->size())))
      return errors.error(function.name);
    if (auto sealed = memory->seal(); !sealed) return prefixed(function.name, sealed.error());
    return std::unique_ptr<Executable>(std::make_unique<HostExecutable>(
        function, std::move(use), compiler.batches(), std::move(data), *std::move(memory),
        code.labelOffset(*entry), code.codeSize(), std::string(logger.data(), logger.dataSize()),
        std::move(compiler.places)));
  }

  const Host& host_;
};

}  // namespace

const Host avx2_host{EngineKind::avx2, target, emit::table};

std::unique_ptr<Engine> make_engine(const Host& host) { return std::make_unique<HostEngine>(host); }

}  // namespace avx2

Result<std::unique_ptr<Engine>> make_avx2_engine() {
  const auto& features = asmjit::CpuInfo::host().features().x86();
  if (!features.hasAVX2() || !features.hasFMA() || !features.hasBMI() || !features.hasBMI2() ||
      !features.hasF16C())
    return error("the avx2 engine needs a CPU with AVX2, FMA, BMI, BMI2 and F16C; use the reference engine");
  return avx2::make_engine(avx2::avx2_host);
}

}  // namespace eum::jit
