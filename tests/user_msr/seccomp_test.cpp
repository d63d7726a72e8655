// System call filters as the runner evaluates them: each instruction of classic BPF, and which results are
// fatal.
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <vector>

#include "runtime/user_msr/native/seccomp.hpp"

using eum::rt::native::is_deadly;

namespace {

using Code = std::vector<sock_filter>;

sock_filter statement(unsigned code, std::uint32_t k) {
  return BPF_STMT(static_cast<std::uint16_t>(code), k);
}
sock_filter jump(unsigned code, std::uint32_t k, unsigned yes, unsigned no) {
  return BPF_JUMP(static_cast<std::uint16_t>(code), k, static_cast<std::uint8_t>(yes),
                  static_cast<std::uint8_t>(no));
}

/// Whether `code` leaves 42 in the accumulator: if so, the filter kills the process.
bool leaves_42(Code code) {
  code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, 42, 0, 1));
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return is_deadly(code);
}
constexpr unsigned ld = BPF_LD | BPF_IMM, ldx = BPF_LDX | BPF_IMM, alu = BPF_ALU;

}  // namespace

TEST_CASE("a filter is deadly if it does anything but allow or fail a call of the runner") {
  for (auto [action, expected] : {std::pair{SECCOMP_RET_ALLOW, false},
                                  {SECCOMP_RET_LOG, false},
                                  {SECCOMP_RET_ERRNO | 13u, false},
                                  {SECCOMP_RET_KILL_PROCESS, true},
                                  {SECCOMP_RET_KILL_THREAD, true},
                                  {SECCOMP_RET_TRAP, true},
                                  {SECCOMP_RET_TRACE, true},
                                  {SECCOMP_RET_USER_NOTIF, true}}) {
    CHECK(is_deadly(Code{statement(BPF_RET | BPF_K, action)}) == expected);
    CHECK(is_deadly(Code{statement(ld, action), statement(BPF_RET | BPF_A, 0)}) == expected);
    // For a system call that the runner makes, and for one that it never makes.
    for (long call : {long{SYS_membarrier}, long{SYS_execve}})
      CHECK(is_deadly(Code{statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
                           statement(BPF_RET | BPF_K, action),
                           statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}) ==
            (expected && call == SYS_membarrier));
  }
}

TEST_CASE("filters compute as the kernel does") {
  CHECK(leaves_42({statement(ld, 42)}));
  CHECK_FALSE(leaves_42({statement(ld, 41)}));
  CHECK(leaves_42({statement(BPF_LD | BPF_LEN, 0), statement(alu | BPF_SUB | BPF_K, 22)}));  // 64
  CHECK(leaves_42({statement(ld, 40), statement(alu | BPF_ADD | BPF_K, 2)}));
  CHECK(leaves_42({statement(ld, 6), statement(ldx, 7), statement(alu | BPF_MUL | BPF_X, 0)}));
  CHECK(leaves_42({statement(ld, 85), statement(alu | BPF_DIV | BPF_K, 2)}));
  CHECK(leaves_42({statement(ld, 32), statement(alu | BPF_OR | BPF_K, 10)}));
  CHECK(leaves_42({statement(ld, 0xffea), statement(alu | BPF_AND | BPF_K, 0x3f)}));
  CHECK(leaves_42({statement(ld, 0xff), statement(alu | BPF_XOR | BPF_K, 0xd5)}));
  CHECK(leaves_42({statement(ld, 21), statement(alu | BPF_LSH | BPF_K, 1)}));
  CHECK(leaves_42({statement(ld, 84), statement(ldx, 1), statement(alu | BPF_RSH | BPF_X, 0)}));
  CHECK(leaves_42({statement(ld, 0u - 42), statement(alu | BPF_NEG, 0)}));
  CHECK(
      leaves_42({statement(ld, 42), statement(BPF_ST, 3), statement(ld, 1), statement(BPF_LD | BPF_MEM, 3)}));
  CHECK(leaves_42({statement(ldx, 42), statement(BPF_STX, 15), statement(BPF_LD | BPF_MEM, 15)}));
  CHECK(leaves_42({statement(ldx, 42), statement(BPF_MISC | BPF_TXA, 0)}));
  CHECK(leaves_42({statement(ld, 42), statement(BPF_MISC | BPF_TAX, 0), statement(ld, 0),
                   statement(BPF_MISC | BPF_TXA, 0)}));
  for (auto [op, k] : {std::pair{BPF_JGT, 4u}, {BPF_JGE, 5u}, {BPF_JSET, 1u}, {BPF_JEQ, 5u}})
    CHECK(leaves_42({statement(ld, 5), jump(BPF_JMP | static_cast<unsigned>(op) | BPF_K, k, 1, 0),
                     statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), statement(ld, 42)}));
  for (auto [op, k] : {std::pair{BPF_JGT, 5u}, {BPF_JGE, 6u}, {BPF_JSET, 2u}, {BPF_JEQ, 4u}})
    CHECK_FALSE(leaves_42({statement(ld, 5), jump(BPF_JMP | static_cast<unsigned>(op) | BPF_K, k, 1, 0),
                           statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), statement(ld, 42)}));
  CHECK(leaves_42(
      {statement(BPF_JMP | BPF_JA, 1), statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), statement(ld, 42)}));
}

TEST_CASE("a filter that the kernel would refuse is deadly, and ends") {
  CHECK(is_deadly({}));
  CHECK(is_deadly(Code{statement(ld, 1)}));
  CHECK(is_deadly(Code{statement(BPF_JMP | BPF_JA, 0xffffffff)}));
  CHECK(is_deadly(Code{statement(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data) - 3)}));
  CHECK(is_deadly(Code{statement(BPF_LD | BPF_MEM, BPF_MEMWORDS)}));
  CHECK(is_deadly(Code{statement(BPF_ST, BPF_MEMWORDS)}));
  CHECK(is_deadly(Code{statement(ld, 1), statement(alu | BPF_DIV | BPF_K, 0)}));
  CHECK(is_deadly(Code{statement(0xffff, 0)}));
}
