#pragma once
// The patch token container: magic "CTNI", a header, and for each kernel its heaps and a list of tokens.
#include <cstddef>
#include <span>

#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

bool looks_like_patch_tokens(std::span<const std::byte> binary);

/// `container` says whether the bytes were in an ELF wrapper.
Result<Program> load_patch_tokens(std::span<const std::byte> binary, Container container);

}  // namespace eum::rt
