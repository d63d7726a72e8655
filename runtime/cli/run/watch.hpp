#pragma once
// Watch: ends a run of kernels when its time is over or someone presses Ctrl-C. It must not know what a run
// is beyond something that can be stopped.
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace eum::cli {

/// Takes SIGINT and SIGTERM away from the threads that are started after it. Outside of a run, and once a run
/// has been told to stop, they end the program as they always do.
class Watch {
 public:
  enum class Reason { None, Timeout, Signal };

  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// From now on a signal, or that so many seconds are over, calls `stop`, from another thread, once.
  void begin(std::optional<double> seconds, std::function<void()> stop);
  /// What is called from now on; at once if it is too late already.
  void redirect(std::function<void()> stop);
  /// After it `stop` is not called any more.
  void end();
  Reason reason();

 private:
  void watch();
  void stop(Reason reason);

  sigset_t before_{};
  int signals_ = -1, wake_ = -1;
  std::mutex mutex_;
  std::function<void()> stop_;
  std::optional<double> deadline_;  // on the monotonic clock, in seconds
  bool running_ = false, quit_ = false;
  Reason reason_ = Reason::None;
  std::thread thread_;
};

}  // namespace eum::cli
