#pragma once
// Protection keys: memory may be executable but not readable, and the kernel begins a signal handler with the
// keys of the program denied. Where system calls are refused, code can still be read by allowing them.
#include <cstdint>

namespace eum::rt::native {

/// While it lives, this thread accesses memory whatever its keys are. Does nothing on processors without
/// keys.
class AllKeysAllowed {
 public:
  explicit AllKeysAllowed(bool has_protection_keys) : has_keys_(has_protection_keys) {
    if (!has_keys_) return;
    before_ = read();
    write(0);
  }
  ~AllKeysAllowed() {
    if (has_keys_) write(before_);
  }
  AllKeysAllowed(const AllKeysAllowed&) = delete;
  AllKeysAllowed& operator=(const AllKeysAllowed&) = delete;

 private:
  static std::uint32_t read() {
    std::uint32_t denied, zero;
    asm volatile("rdpkru" : "=a"(denied), "=d"(zero) : "c"(0));
    return denied;
  }
  static void write(std::uint32_t denied) {
    asm volatile("wrpkru" : : "a"(denied), "c"(0), "d"(0) : "memory");
  }

  bool has_keys_;
  std::uint32_t before_ = 0;
};

}  // namespace eum::rt::native
