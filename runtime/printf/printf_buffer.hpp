#pragma once
// The buffer that kernels write what they print to, and its way back to text. The layout is the compiler's
// (OpenCLPrintfResolution.cpp of intel-graphics-compiler). It must not know kernels, devices or launches.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "memory/address_space.hpp"

namespace eum::rt {

/// Compiled into the kernels: they write nothing behind it.
inline constexpr std::uint32_t printf_buffer_bytes = 4 * 1024 * 1024;

/// More text than this is dropped: a hostile kernel can name a long format a million times.
inline constexpr std::size_t most_printf_text = std::size_t{64} << 20;

/// Where a kernel's formats and strings are.
struct PrintfStrings {
  /// Patch tokens: records number their strings. Null for zebin, where they have addresses.
  const std::vector<std::string>* numbered = nullptr;
  const mem::AddressSpace* space = nullptr;
  std::uint32_t pointer_bytes = 8;
};

/// What was printed. Threads that run at the same time take turns as they do on the hardware: in any order.
struct PrintfText {
  std::string text;
  std::string incomplete;  ///< "", or in one line why the text is not all that was printed
};

/// Makes a buffer that a run may have written to ready for the next one; `all`: also one that none has.
void clear_printf_buffer(std::span<std::byte> buffer, bool all);

/// Never fails: what cannot be read is said in PrintfText::incomplete.
PrintfText read_printf_buffer(std::span<const std::byte> buffer, const PrintfStrings& strings);

/// Patch tokens spell what cannot be printed with a backslash, as C does.
std::string unescaped(std::string_view text);

}  // namespace eum::rt
