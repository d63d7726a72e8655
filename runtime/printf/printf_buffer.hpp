#pragma once
// The buffer that kernels write printf output to, and its conversion to text. The layout is the compiler's
// (OpenCLPrintfResolution.cpp of intel-graphics-compiler). It must not know kernels, devices or launches.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "memory/address_space.hpp"

namespace eum::rt {

/// Size compiled into the kernels: they write nothing beyond it.
inline constexpr std::uint32_t printf_buffer_bytes = 4 * 1024 * 1024;

/// Further text is dropped: a hostile kernel can refer to a long format a million times.
inline constexpr std::size_t most_printf_text = std::size_t{64} << 20;

/// Location of a kernel's formats and strings.
struct PrintfStrings {
  /// Patch tokens: records refer to strings by number. Null for zebin, where they refer to addresses.
  const std::vector<std::string>* numbered = nullptr;
  const mem::AddressSpace* space = nullptr;
  std::uint32_t pointer_bytes = 8;
};

/// The printed text. Output of threads that run at the same time is in any order, as on the hardware.
struct PrintfText {
  std::string text;
  std::string incomplete;  ///< "", or one line that says why some output is missing
};

/// Prepares a buffer for the next run; `all`: the whole buffer, because no earlier call has prepared it.
void clear_printf_buffer(std::span<std::byte> buffer, bool all);

/// Never fails: unreadable records are reported in PrintfText::incomplete.
PrintfText read_printf_buffer(std::span<const std::byte> buffer, const PrintfStrings& strings);

/// Replaces the escapes by which patch tokens spell unprintable characters, as in C.
std::string unescaped(std::string_view text);

}  // namespace eum::rt
