// Accesses to one register. No libc calls and no vector registers: see slot.hpp.
#include "runtime/user_msr/slot.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include "runtime/user_msr/signals_blocked.hpp"

namespace eum::rt {
namespace {

constexpr unsigned number_bytes = 64;  // longest part of a file that is read

std::uint64_t host_tsc() {
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

bool read_file(const char* path, std::uint64_t& value) {
  SignalsBlocked blocked;  // a handler that jumps away would leave the file open
  long file = raw_syscall(SYS_open, to_long(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[number_bytes];
  long length = raw_syscall(SYS_pread64, file, to_long(text), number_bytes, 0);
  raw_syscall(SYS_close, file);
  return length > 0 && length < long{number_bytes} &&
         parse_number(text, static_cast<std::uint64_t>(length), value);
}

bool write_file(const char* path, std::uint64_t value) {
  // A fixed width, so that a reader never sees a mix of two values' digits with yet another length.
  char text[19] = {'0', 'x'};
  for (unsigned i = 0; i < 16; ++i) text[2 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  text[18] = '\n';
  SignalsBlocked blocked;
  long file = raw_syscall(SYS_open, to_long(path), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool good = raw_syscall(SYS_pwrite64, file, to_long(text), sizeof text, 0) == sizeof text;
  // Removes the rest of a longer text; files that cannot be truncated (devices) do not keep one.
  raw_syscall(SYS_ftruncate, file, sizeof text);
  raw_syscall(SYS_close, file);
  return good;
}

}  // namespace

bool parse_number(const char* text, std::uint64_t length, std::uint64_t& value) {
  std::uint64_t i = 0;
  while (i < length && is_blank(text[i])) ++i;
  unsigned base = 10;
  if (i + 1 < length && text[i] == '0' && (text[i + 1] | 0x20) == 'x') {
    base = 16;
    i += 2;
  }
  std::uint64_t result = 0;
  std::uint64_t digits = 0;
  for (; i < length; ++i, ++digits) {
    auto digit = static_cast<unsigned>(digit_value(text[i]));
    if (digit >= base) break;
    std::uint64_t scaled;
    if (__builtin_mul_overflow(result, base, &scaled) || __builtin_add_overflow(scaled, digit, &result))
      return false;
  }
  while (i < length && is_blank(text[i])) ++i;
  if (digits == 0 || i != length) return false;
  value = result;
  return true;
}

bool read_slot(MsrSlot& slot, std::uint64_t& value) {
  if (!slot.readable) return false;
  switch (slot.source) {
    case MsrSource::Value:
      value = slot.value.load(std::memory_order_acquire);
      return true;
    case MsrSource::Counter:
      value = slot.value.fetch_add(1, std::memory_order_acq_rel);
      return true;
    case MsrSource::Tsc:
      value = host_tsc();
      return true;
    case MsrSource::File:
      return read_file(slot.path, value);
    case MsrSource::Handler:
      return slot.handlers.read && slot.handlers.read(slot.handlers.context, slot.address, &value);
  }
  return false;
}

bool write_slot(MsrSlot& slot, std::uint64_t value) {
  if (!slot.writable || (value & slot.reserved) != 0) return false;
  switch (slot.source) {
    case MsrSource::Value:
    case MsrSource::Counter:
      slot.value.store(value, std::memory_order_release);
      return true;
    case MsrSource::Tsc:
      return false;
    case MsrSource::File:
      return write_file(slot.path, value);
    case MsrSource::Handler:
      return slot.handlers.write && slot.handlers.write(slot.handlers.context, slot.address, value);
  }
  return false;
}

}  // namespace eum::rt
