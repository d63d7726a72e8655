#pragma once
// Registers and memory of a stopped thread as text. It must not know how a thread came to stop.
#include <span>
#include <string>

#include "frontend/gen/family.hpp"
#include "jit/engine.hpp"
#include "runtime/cli/debug/command.hpp"
#include "runtime/dispatch/image.hpp"
#include "runtime/dispatch/walker.hpp"

namespace eum::cli::debug {

/// "r12: 1 2 3 ..." and so on for `count` registers.
Result<std::string> register_text(const RegisterText& reg, std::uint64_t count, const jit::ThreadImage& image,
                                  gen::Family family);

/// ip, masks, flags, and the state registers.
std::string state_text(const jit::ThreadImage& image, gen::Family family);

/// Where memory of a thread is.
struct MemoryView {
  const rt::WalkerCommand* walk = nullptr;
  std::span<const std::byte> slm;      ///< of the thread's group
  std::span<const std::byte> scratch;  ///< of the thread
};
/// "0x1000: 1 2 3 4" and so on, eight elements a line.
Result<std::string> memory_text(const MemoryText& memory, std::uint64_t count, const MemoryView& view);

/// Each surface that is not null.
std::string surfaces_text(const rt::WalkerCommand& walk);

}  // namespace eum::cli::debug
