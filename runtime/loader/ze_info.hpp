#pragma once
// .ze_info, the YAML part of zebin: its description of each kernel, as drafts without code.
#include <cstddef>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"

namespace eum::rt {

/// Longest text that is parsed: some thousand kernels. yaml-cpp takes about 85 bytes of memory and 0.35
/// microseconds per byte of hostile text.
inline constexpr std::size_t most_ze_info_bytes = std::size_t{4} << 20;

/// Field names and their meaning: zeinfo.md of intel-graphics-compiler; version 1.x. Drafts are in file order
/// and have distinct names. Unknown keys are skipped, as the format requires; anchors and aliases are
/// refused.
Result<std::vector<KernelDraft>> read_ze_info(std::string_view text, const Registers& registers);

}  // namespace eum::rt
