#pragma once
// Watch: stops a run of kernels when its time is over or on Ctrl-C. It must not know what a run is, except
// that it can be stopped.
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace eum::cli {

/// Blocks SIGINT and SIGTERM in the threads that are started after it. Outside a run, and once a run has been
/// told to stop, they end the program as usual.
class Watch {
 public:
  enum class Reason { None, Timeout, Signal };

  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// From now on, a signal or the end of so many seconds calls `stop` once, from another thread.
  void begin(std::optional<double> seconds, std::function<void()> stop);
  /// Replaces the function to call; calls it at once if the run has already been told to stop.
  void redirect(std::function<void()> stop);
  /// Afterwards `stop` is not called any more.
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
