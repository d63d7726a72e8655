#pragma once
// The result of executing on a machine, and its text. It must not know how instructions execute.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "frontend/x86/decoder.hpp"
#include "frontend/x86/machine_file.hpp"

namespace eum::rt {

/// For anything but Done, the state is that before the instruction at RIP. Trivially copyable: the text is
/// built on request.
struct Outcome {
  enum class Kind : std::uint8_t {
    Done,
    Exception,  ///< vector; error_code if the vector has one; cr2 for #PF
    VmExit,     ///< exit_*
    Foreign,    ///< the bytes are another instruction: not executed
    Truncated,  ///< more bytes are needed
    Failed,     ///< no translation (a bug of the emulator): see reason
    Stopped,    ///< the embedder's LinearReader ended the instruction
  } kind = Kind::Done;
  x86::Vector vector = x86::Vector::UD;
  std::optional<std::uint32_t> error_code = {};
  std::uint64_t cr2 = 0;
  std::uint32_t exit_reason = 0;         ///< basic exit reason
  std::uint64_t exit_qualification = 0;  ///< the MSR address
  /// VM-exit instruction information: bits 6:3 are the low bits of exit_register, the others are 0 (the
  /// manual calls them undefined).
  std::uint32_t exit_instruction_information = 0;
  std::uint32_t exit_instruction_length = 0;  ///< bytes
  std::uint8_t exit_register = 0;  ///< general register 0-31: destination of a read, source of a write
  std::uint64_t completed = 0;     ///< instructions executed before this outcome
  /// For #UD and #GP(0) that the bytes determine: static text, or empty. For Failed: text owned by the
  /// machine, valid until it executes again.
  std::string_view reason = {};

  /// One line for a human; empty for Done.
  std::string text() const;

  bool operator==(const Outcome&) const = default;
};

static_assert(std::is_trivially_copyable_v<Outcome>);

/// For a decoder verdict other than an instruction, or an instruction that needs APX on a machine without it.
Outcome outcome_of(const x86::Decoding& decoding);

}  // namespace eum::rt
