// A dedicated thread waits for signals with signalfd: no code runs in a signal handler.
#include "runtime/cli/run/watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <utility>

namespace eum::cli {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Ends the program by the signal's default action.
void end_by(int signal, const sigset_t& signals) {
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  kill(getpid(), signal);
}

}  // namespace

Watch::Watch() {
  sigset_t signals;
  sigemptyset(&signals);
  struct sigaction old;
  for (const int signal : {SIGINT, SIGTERM})  // except those ignored by the parent
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { watch(); });
}

Watch::~Watch() {
  {
    const std::scoped_lock lock(mutex_);
    quit_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_, &one, sizeof one));
  thread_.join();
  close(signals_);
  close(wake_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Watch::begin(std::optional<double> seconds, std::function<void()> stop) {
  {
    const std::scoped_lock lock(mutex_);
    running_ = true;
    stop_ = std::move(stop);
    if (seconds) deadline_ = now() + *seconds;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_, &one, sizeof one));
}

void Watch::redirect(std::function<void()> stop) {
  const std::scoped_lock lock(mutex_);
  stop_ = std::move(stop);
  if (reason_ != Reason::None && stop_) stop_();
}

void Watch::end() {
  const std::scoped_lock lock(mutex_);
  running_ = false;
  stop_ = nullptr;
  deadline_.reset();
}

Watch::Reason Watch::reason() {
  const std::scoped_lock lock(mutex_);
  return reason_;
}

void Watch::stop(Reason reason) {
  reason_ = reason;
  deadline_.reset();
  if (stop_) stop_();
}

void Watch::watch() {
  for (;;) {
    int wait = -1;
    {
      const std::scoped_lock lock(mutex_);
      if (quit_) return;
      if (deadline_) {
        const double left = *deadline_ - now();
        if (left <= 0) {
          stop(Reason::Timeout);
          continue;
        }
        wait = static_cast<int>(std::min(std::ceil(left * 1e3), 1e9));
      }
    }
    pollfd files[] = {{signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
    poll(files, 2, wait);
    std::uint64_t ignored = 0;
    static_cast<void>(!read(wake_, &ignored, sizeof ignored));
    signalfd_siginfo signal;
    if (read(signals_, &signal, sizeof signal) != sizeof signal) continue;
    const std::scoped_lock lock(mutex_);
    if (running_ && reason_ == Reason::None) {
      stop(Reason::Signal);
    } else {
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, static_cast<int>(signal.ssi_signo));
      end_by(static_cast<int>(signal.ssi_signo), one);
    }
  }
}

}  // namespace eum::cli
