// Texts of outcomes, and outcomes determined by the bytes alone.
#include "runtime/user_msr/outcome.hpp"

#include <fmt/core.h>

namespace eum::rt {
namespace {

Outcome exception(x86::Vector vector, std::optional<std::uint32_t> error_code, std::string_view reason) {
  Outcome outcome{.kind = Outcome::Kind::Exception, .vector = vector, .error_code = error_code};
  outcome.reason = reason;
  return outcome;
}

}  // namespace

Outcome outcome_of(const x86::Decoding& decoding) {
  switch (decoding.verdict) {
    case x86::Verdict::Foreign:
      return {.kind = Outcome::Kind::Foreign};
    case x86::Verdict::Truncated:
      return {.kind = Outcome::Kind::Truncated};
    case x86::Verdict::TooLong:
      return exception(x86::Vector::GP, 0, "longer than 15 bytes");
    case x86::Verdict::Undefined:
      return exception(x86::Vector::UD, std::nullopt, x86::describe(decoding.why));
    case x86::Verdict::Instruction:
      break;
  }
  return exception(x86::Vector::UD, std::nullopt, "needs APX");
}

std::string Outcome::text() const {
  std::string text;
  switch (kind) {
    case Kind::Done:
      return text;
    case Kind::Foreign:
      return "not a user MSR instruction";
    case Kind::Truncated:
      return "the bytes end before the instruction does";
    case Kind::Failed:
      return std::string(reason);
    case Kind::Stopped:
      return fmt::format("the reader of linear memory stopped the instruction at {:#x}", cr2);
    case Kind::VmExit:
      return fmt::format("VM exit, reason {}, qualification {:#x}", exit_reason, exit_qualification);
    case Kind::Exception:
      break;
  }
  const std::uint32_t code = error_code.value_or(0);
  switch (vector) {
    case x86::Vector::UD:
      text = "#UD";
      break;
    case x86::Vector::GP:
      text = fmt::format("#GP({})", code);
      break;
    case x86::Vector::PF:
      text = fmt::format("#PF({}) at {:#x}", code, cr2);
      break;
  }
  if (!reason.empty()) text += fmt::format(": {}", reason);
  return text;
}

}  // namespace eum::rt
