// Classic BPF as the kernel executes it for seccomp (Documentation/userspace-api/seccomp_filter.rst and
// networking/filter.rst), and a child process that tests the calls.
#include "runtime/user_msr/native/seccomp.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <string_view>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

struct RunnerCall {
  long number;
  std::array<long, 6> arguments;
};
constexpr RunnerCall runner_calls[] = {
#define RUNNER_CALL(name, ...) {SYS_##name, std::array<long, 6> __VA_ARGS__},
#include "runtime/user_msr/native/runner_calls.def"
#undef RUNNER_CALL
};

constexpr std::uint32_t kill_it = SECCOMP_RET_KILL_PROCESS;

/// The machine for one run of a filter. The kernel has checked that jumps stay inside and go forward; filters
/// that it would refuse end as a kill.
class Filter {
 public:
  Filter(std::span<const sock_filter> code, const seccomp_data& data) : code_(code), data_(data) {}

  std::uint32_t run() {
    for (std::size_t pc = 0; pc < code_.size();) {
      const sock_filter& i = code_[pc++];
      switch (BPF_CLASS(i.code)) {
        case BPF_LD:
          if (!load(i, a_)) return kill_it;
          break;
        case BPF_LDX:
          if (!load(i, x_)) return kill_it;
          break;
        case BPF_ST:
        case BPF_STX:
          if (i.k >= memory_.size()) return kill_it;
          memory_[i.k] = BPF_CLASS(i.code) == BPF_ST ? a_ : x_;
          break;
        case BPF_ALU:
          if (!compute(i)) return kill_it;
          break;
        case BPF_JMP:
          pc += BPF_OP(i.code) == BPF_JA ? i.k : is_taken(i) ? i.jt : i.jf;
          break;
        case BPF_RET:
          return BPF_RVAL(i.code) == BPF_A ? a_ : i.k;
        case BPF_MISC:
          (BPF_MISCOP(i.code) == BPF_TAX ? x_ : a_) = BPF_MISCOP(i.code) == BPF_TAX ? a_ : x_;
          break;
        default:
          return kill_it;
      }
    }
    return kill_it;
  }

 private:
  bool load(const sock_filter& i, std::uint32_t& to) const {
    switch (BPF_MODE(i.code)) {
      case BPF_IMM:
        to = i.k;
        return true;
      case BPF_ABS:
        if (i.k > sizeof data_ - sizeof to) return false;
        std::memcpy(&to, reinterpret_cast<const char*>(&data_) + i.k, sizeof to);
        return true;
      case BPF_LEN:
        to = sizeof data_;
        return true;
      case BPF_MEM:
        if (i.k >= memory_.size()) return false;
        to = memory_[i.k];
        return true;
      default:
        return false;
    }
  }
  std::uint32_t operand(const sock_filter& i) const { return BPF_SRC(i.code) == BPF_X ? x_ : i.k; }
  bool is_taken(const sock_filter& i) const {
    std::uint32_t b = operand(i);
    switch (BPF_OP(i.code)) {
      case BPF_JEQ:
        return a_ == b;
      case BPF_JGT:
        return a_ > b;
      case BPF_JGE:
        return a_ >= b;
      default:
        return (a_ & b) != 0;  // BPF_JSET
    }
  }
  bool compute(const sock_filter& i) {
    std::uint32_t b = operand(i);
    switch (BPF_OP(i.code)) {
      case BPF_ADD:
        a_ += b;
        return true;
      case BPF_SUB:
        a_ -= b;
        return true;
      case BPF_MUL:
        a_ *= b;
        return true;
      case BPF_DIV:
        if (b == 0) return false;
        a_ /= b;
        return true;
      case BPF_OR:
        a_ |= b;
        return true;
      case BPF_AND:
        a_ &= b;
        return true;
      case BPF_XOR:
        a_ ^= b;
        return true;
      case BPF_LSH:
        a_ = b < 32 ? a_ << b : 0;
        return true;
      case BPF_RSH:
        a_ = b < 32 ? a_ >> b : 0;
        return true;
      case BPF_NEG:
        a_ = 0 - a_;
        return true;
      default:
        return false;
    }
  }

  std::span<const sock_filter> code_;
  const seccomp_data& data_;
  std::uint32_t a_ = 0, x_ = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory_{};
};

bool has_filters() {
  long file = raw_syscall(SYS_open, to_long("/proc/self/status"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[4096];
  long got = raw_syscall(SYS_read, file, to_long(text), sizeof text);
  raw_syscall(SYS_close, file);
  return got > 0 && std::string_view(text, static_cast<std::size_t>(got)).find("\nSeccomp:\t2") !=
                        std::string_view::npos;
}

}  // namespace

bool is_deadly(std::span<const sock_filter> filter) {
  for (const RunnerCall& call : runner_calls) {
    seccomp_data data{};
    data.nr = static_cast<int>(call.number);
    data.arch = AUDIT_ARCH_X86_64;
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      data.args[i] = static_cast<std::uint64_t>(call.arguments[i]);
    std::uint32_t action = Filter(filter, data).run() & SECCOMP_RET_ACTION_FULL;
    if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG && action != SECCOMP_RET_ERRNO) return true;
  }
  return false;
}

bool is_started_confined() {
  if (!has_filters()) return false;
  long child = raw_syscall(SYS_clone);  // like fork, but nobody is notified of its end
  if (child == 0) {
    for (const RunnerCall& call : runner_calls) {
      const std::array<long, 6>& a = call.arguments;
      raw_syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    raw_syscall(SYS_exit_group, 0);
  }
  int status = 0;
  if (child > 0) raw_syscall(SYS_wait4, child, to_long(&status), __WALL, 0);
  return child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace eum::rt::native
