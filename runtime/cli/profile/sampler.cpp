// A monotonic-clock timer signals one thread: timers of processor time tick only a few hundred times a
// second.
#include "runtime/cli/profile/sampler.hpp"

#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

namespace eum::cli {
namespace {

/// A prime, so that samples do not synchronise with periodic behaviour.
constexpr long period_nanoseconds = 197'003;
/// How far to search the stack for frames of functions that translated code calls.
constexpr std::size_t most_stack_words = 1024;

}  // namespace

struct Sampler::State {
  std::uintptr_t code = 0, bytes = 0;
  std::uintptr_t base = 0, stack_end = 0;  // sampled frames are below `base`
  timer_t timer{};
  Counts counts;

  /// State of a walk over the frames of the interrupted thread.
  struct Trace {
    const State* state;
    std::uintptr_t from;   // offset of the call in the code, or State::bytes
    bool reached = false;  // reached `base` without finding a frame in the code
  };
  static _Unwind_Reason_Code step(_Unwind_Context* frame, void* argument) {
    Trace& trace = *static_cast<Trace*>(argument);
    const State& state = *trace.state;
    if (const std::uintptr_t at = _Unwind_GetIP(frame) - 1 - state.code; at < state.bytes) trace.from = at;
    trace.reached = _Unwind_GetCFA(frame) > state.base;
    return trace.reached || trace.from < state.bytes ? _URC_END_OF_STACK : _URC_NO_REASON;
  }

  /// Reads any stack word, including those between the variables of running functions.
  __attribute__((no_sanitize("address"))) static std::uintptr_t stack_word(std::uintptr_t at) {
    return *reinterpret_cast<const volatile std::uintptr_t*>(at);
  }

  /// Offset in the code of the call to what is running, or `bytes` if none is found. Functions generated at
  /// run time (those of images) have no unwind tables: then the nearest stack word that may be a return
  /// address decides.
  std::uintptr_t caller(std::uintptr_t stack) const {
    Trace trace{this, bytes};
    _Unwind_Backtrace(step, &trace);
    if (trace.reached || trace.from < bytes) return trace.from;
    for (std::size_t i = 0; i < most_stack_words && stack + 8 <= stack_end; ++i, stack += 8) {
      if (const std::uintptr_t word = stack_word(stack); is_behind_call(word)) return word - 1 - code;
    }
    return bytes;
  }

  /// Whether the code has a call that ends at this address: `call reg` or `call rel32`.
  bool is_behind_call(std::uintptr_t address) const {
    constexpr std::uintptr_t longest = 5;
    if (address - longest - code >= bytes - std::min(bytes, longest)) return false;
    const auto* end = reinterpret_cast<const unsigned char*>(address);
    return (end[-2] == 0xff && (end[-1] & 0xf8) == 0xd0) || end[-5] == 0xe8;
  }

  void take(const ucontext_t& context) {
    const auto ip = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]) - code;
    if (ip < bytes) {
      ++counts.own[ip];
    } else if (const std::uintptr_t from =
                   caller(static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]));
               from < bytes) {
      ++counts.called[from];
    } else {
      ++counts.outside;
    }
  }

  /// The active sampler. The handler stays installed: a signal may be pending when the timer is deleted.
  static std::atomic<State*> current;
  static void handle(int, siginfo_t*, void* context) {
    if (State* state = current.load(std::memory_order_acquire))
      state->take(*static_cast<const ucontext_t*>(context));
  }
};

std::atomic<Sampler::State*> Sampler::State::current = nullptr;

Sampler::Sampler(std::span<const std::byte> code) : state_(std::make_unique<State>()) {
  state_->code = reinterpret_cast<std::uintptr_t>(code.data());
  state_->bytes = code.size();
  state_->counts.own.resize(code.size());
  state_->counts.called.resize(code.size());
}

Sampler::~Sampler() = default;

const Sampler::Counts& Sampler::counts() const { return state_->counts; }

Result<void> Sampler::begin() {
  pthread_attr_t attributes;
  void* stack = nullptr;
  std::size_t stack_bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &stack_bytes);
    pthread_attr_destroy(&attributes);
  }
  state_->stack_end = reinterpret_cast<std::uintptr_t>(stack) + stack_bytes;
  state_->base = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  struct sigaction action {};
  action.sa_sigaction = State::handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = gettid();
  if (sigaction(SIGPROF, &action, nullptr) != 0 || timer_create(CLOCK_MONOTONIC, &event, &state_->timer) != 0)
    return host_error("the host gives no timer for a profile: {}", std::strerror(errno));
  State::current.store(state_.get(), std::memory_order_release);
  const itimerspec period{{0, period_nanoseconds}, {0, period_nanoseconds}};
  timer_settime(state_->timer, 0, &period, nullptr);
  return {};
}

void Sampler::end() {
  timer_delete(state_->timer);
  State::current.store(nullptr, std::memory_order_release);
}

}  // namespace eum::cli
