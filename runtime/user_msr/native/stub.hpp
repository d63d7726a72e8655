#pragma once
// Writes the x86-64 code that replaces one user MSR instruction of a native program. A stub changes only what
// the instruction changes: no other register, no flag, no vector state, no byte of the red zone. It allocates
// nothing: stubs are made in a signal handler. It must not know how code gets into memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "frontend/x86/instruction.hpp"

namespace eum::rt::native {

/// How a stub accesses one register without calling C++.
enum class InlineAccess : std::uint8_t {
  None,       ///< not inline: slow path
  Constant,   ///< the value is in the code
  Load,       ///< a 64-bit load
  Store,      ///< a 64-bit store
  Increment,  ///< an atomic increment that returns the old value
  Tsc,        ///< RDTSC
};

/// One register that a stub serves inline.
struct InlineCase {
  std::uint32_t msr = 0;
  InlineAccess access = InlineAccess::None;
  std::uint64_t operand = 0;  ///< Constant: the value; Load, Store, Increment: host address
};

/// General registers as slow paths see them: numbered as x86::gpr_names, then flags. gpr[4], rsp, is not the
/// program's value.
struct StubFrame {
  std::uint64_t gpr[x86::legacy_gpr_count];
  std::uint64_t flags;
};

/// Does the access on `frame`. Returns 0, or 1 for #GP(0). Must be compiled for general registers only.
using SlowPath = std::uint32_t (*)(StubFrame* frame, void* site);

struct StubRequest {
  x86::Instruction instruction;
  std::uint64_t address = 0;  ///< where the stub will be placed
  std::uint64_t resume = 0;   ///< where the program continues; within 2 GB of the stub
  std::span<const InlineCase>
      cases;  ///< immediate form: the one register; register form: registers that it may name
  SlowPath slow_path = nullptr;
  void* site = nullptr;  ///< passed to the slow path, and stored after the fault instruction
};

inline constexpr std::size_t max_inline_cases = 8;
inline constexpr std::size_t max_stub_bytes = 1024;

/// Location of the site's RSP, for each byte of a stub at the start of the instruction there: this many words
/// above RSP; or, with this bit, stub_frame_words above RBX, and the program's RBX is in the StubFrame to
/// which RBX points. Unwinders use it (unwind_info.hpp).
inline constexpr std::uint8_t frame_in_rbx = 0x80;
inline constexpr int red_zone_bytes = 128;
inline constexpr std::size_t stub_frame_words = (sizeof(StubFrame) + red_zone_bytes) / 8;

struct Stub {
  std::array<std::uint8_t, max_stub_bytes> bytes{};
  std::array<std::uint8_t, max_stub_bytes> depths{};
  std::size_t length = 0;
};

/// UD2, followed by the 8 bytes of the request's site. Executed, with all registers as at the site, if the
/// slow path found #GP(0).
inline constexpr std::array<std::uint8_t, 2> fault_instruction{0x0f, 0x0b};

/// Stubs do not support RSP as an operand. Cases beyond max_inline_cases are left to the slow path.
bool can_emit(const x86::Instruction& instruction);
/// A length beyond max_stub_bytes means that it did not fit.
void emit_stub(const StubRequest& request, Stub& stub);

}  // namespace eum::rt::native
