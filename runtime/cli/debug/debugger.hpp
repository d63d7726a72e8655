#pragma once
// Debugger: a launch of one kernel that proceeds instruction by instruction, one thread at a time. It must
// not know how anything is displayed.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/cli/run/session.hpp"
#include "runtime/dispatch/dispatch.hpp"

namespace eum::cli::debug {

/// A call that a thread has not returned from.
struct Frame {
  std::uint32_t call = 0, back = 0;  ///< ips: of the call, and of its return address
};

/// Why execution stopped.
enum class Stop : std::uint8_t {
  Stepped,      ///< as far as requested
  Breakpoint,   ///< before an instruction that has a breakpoint
  Switched,     ///< the thread ended or waits: another thread is next
  Interrupted,  ///< Ctrl-C
  Ended,        ///< every group is done
  Faulted,      ///< see fault()
};

class Debugger {
 public:
  /// Debugs the only step of a session that was prepared with RunOptions::every_instruction and one worker.
  explicit Debugger(Session& session) : session_(session), step_(session.steps()[0]) {}
  /// Goes to the first thread, before its first instruction.
  std::optional<Failure> begin();

  using Reached = std::function<bool()>;
  /// Executes instructions of this thread, at least one, until `reached`, a stop, or this thread cannot
  /// continue. An error concerns the host.
  Result<Stop> run(const Reached& reached);
  /// Lets any thread run, at full speed if there is nothing to stop at.
  Result<Stop> run_all();
  bool over() const { return over_; }

  std::uint64_t group() const { return group_ ? group_->index : 0; }
  std::array<std::uint32_t, 3> group_id() const;
  std::uint32_t thread() const { return thread_; }
  const rt::GroupImage* group_image() const { return group_ ? &*group_ : nullptr; }
  /// Selects the thread that is inspected and continues.
  Result<void> choose(std::uint64_t thread);
  /// The registers of this thread; if it has not begun, those that it will begin with.
  Result<jit::ThreadImage> image();
  Result<std::uint32_t> ip();
  const std::vector<Frame>& frames(std::uint32_t thread) const { return frames_[thread]; }

  std::set<std::uint32_t>& breakpoints() { return breakpoints_; }
  const std::vector<std::uint32_t>& starts() const { return starts_; }
  bool is_start(std::uint32_t ip) const;
  bool is_call(std::uint32_t ip) const { return kind_at(ip) == Kind::Call; }
  const rt::KernelCode& code() const { return code_; }
  const rt::WalkerCommand& walk() const { return walks_[walk_]; }
  const std::optional<rt::FaultReport>& fault() const { return fault_; }
  rt::WalkerCounts counts() const;

 private:
  enum class Kind : std::uint8_t { Other, Call, Return };
  Kind kind_at(std::uint32_t ip) const {
    const std::size_t unit = ip / unit_bytes;
    return unit < kinds_.size() ? kinds_[unit] : Kind::Other;
  }
  static constexpr std::uint32_t unit_bytes = 8;

  Result<void> begin_walk();
  Result<void> begin_group(std::uint64_t index, std::uint64_t last);
  Result<void> restart();
  Result<void> look();
  Result<std::optional<Stop>> execute_one();
  bool can_run(std::uint32_t thread) const;
  void follow(std::uint32_t from, std::uint32_t to);
  Result<Stop> run_whole();
  void give_slots();
  Result<Stop> finished(rt::Dispatch::Progress progress);

  Session& session_;
  Step& step_;
  rt::KernelCode code_;
  std::vector<std::uint32_t> starts_;
  std::vector<Kind> kinds_;
  std::vector<rt::WalkerCommand> walks_;
  std::size_t walk_ = 0;
  std::unique_ptr<rt::Dispatch> dispatch_;
  rt::WalkerCounts counts_;  // of walks before this one
  /// The state of dispatch_, unless stale_ says that dispatch_ has advanced since.
  std::optional<rt::GroupImage> group_;
  std::vector<rt::GroupRange> remaining_;
  rt::WalkerCounts saved_counts_;
  bool stale_ = false;    // group_ is older than dispatch_
  std::uint32_t ip_ = 0;  // of thread_, if stale_
  std::uint32_t thread_ = 0;
  std::vector<std::vector<Frame>> frames_;
  std::set<std::uint32_t> breakpoints_;
  std::optional<rt::FaultReport> fault_;
  std::optional<jit::ThreadImage> faulted_;
  bool over_ = false;
  std::atomic<bool> interrupted_{false};
};

}  // namespace eum::cli::debug
