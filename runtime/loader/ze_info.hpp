#pragma once
// .ze_info, the YAML part of zebin: what it says of each kernel, as drafts without code.
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"

namespace eum::rt {

/// Field names and their meaning: zeinfo.md of intel-graphics-compiler; version 1.x. Drafts are in file order
/// and have different names. Keys that are not known are skipped, as the format asks.
Result<std::vector<KernelDraft>> read_ze_info(std::string_view text, gen::Family family);

}  // namespace eum::rt
