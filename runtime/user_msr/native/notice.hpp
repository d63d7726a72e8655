#pragma once
// What the user should know about a program under the runner: one line on standard error each, once per
// process. Safe in signal handlers.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace eum::rt::native {

enum class Notice : std::uint8_t {
#define NOTICE(name, ...) name,
#include "runtime/user_msr/native/notice.def"
#undef NOTICE
};

class Notices {
 public:
  /// Remembers which file is standard error: a program may close it and reuse its number.
  void open();
  /// `address`: for texts that mention one.
  void say(Notice notice, std::uint64_t address = 0);

 private:
  static constexpr std::size_t count = 0
#define NOTICE(...) +1
#include "runtime/user_msr/native/notice.def"
#undef NOTICE
      ;
  std::array<std::atomic<bool>, count> said_{};
  bool is_open_ = false;
  std::uint64_t device_ = 0, inode_ = 0;
};

}  // namespace eum::rt::native
