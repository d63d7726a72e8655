#pragma once
// Prints registers and memory of a stopped thread. It must not know how the thread came to stop.
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

/// The memory that a thread can access.
struct MemoryView {
  const rt::WalkerCommand* walk = nullptr;
  std::span<const std::byte> slm;      ///< of the thread's group
  std::span<const std::byte> scratch;  ///< of the thread
};
/// "0x1000: 1 2 3 4" and so on, eight elements per line.
Result<std::string> memory_text(const MemoryText& memory, std::uint64_t count, const MemoryView& view);

/// Each surface that is not null.
std::string surfaces_text(const rt::WalkerCommand& walk);

}  // namespace eum::cli::debug
