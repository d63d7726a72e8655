#pragma once
// Shared by the two container readers: a kernel under construction, and the check that finishes it.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// General registers of a thread.
struct Registers {
  std::uint32_t bytes = 32;  ///< of one register
  std::uint32_t count = 128;
};
constexpr Registers registers_of(gen::Family family) {
  return {gen::info(family).grf_bytes, gen::info(family).grf_count};
}

/// A kernel whose arguments are not yet in order. Sparse, so that a hostile index costs nothing.
struct KernelDraft {
  Kernel kernel;
  std::map<std::uint32_t, Argument> arguments;
  bool inline_data = false;  ///< the walker passes the first bytes of the payload
  /// Without local ids the cross-thread data directly follows r0: Gen12.5 and later.
  bool data_behind_header = false;

  /// Remembers the first reason why the kernel cannot run; the program still loads.
  void reject(std::string reason) {
    if (kernel.unsupported.empty()) kernel.unsupported = std::move(reason);
  }
  /// Adds a patch to the argument or the implicit items, according to its item.
  void add(const Patch& patch, std::uint32_t argument);
};

/// Splits "float*;8" into type name and size.
void set_type(Argument& argument, std::string_view declared);

/// Address qualifiers as both containers spell them: "__global" and so on.
void set_address_qualifier(Argument& argument, std::string_view spelled);

/// GenRelocType of both containers: 1, 2 and 3 write an address. Nothing for other types.
std::optional<Relocation::Kind> relocation_kind(std::uint32_t type);

/// The pseudo-kernel that holds functions for other modules, in both containers; it cannot be dispatched.
inline constexpr std::string_view function_kernel_name = "Intel_Symbol_Table_Void_Program";

/// Puts arguments in order, merges adjacent patches and checks every number against the family's limits, so
/// that users of a Kernel need no checks of their own.
Result<Kernel> finish(KernelDraft draft, gen::Family family);
/// The same for a kernel in vISA text, which has no family.
Result<Kernel> finish(KernelDraft draft, const Registers& registers);

}  // namespace eum::rt
