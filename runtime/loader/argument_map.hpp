#pragma once
// The map of arguments that a user writes for vISA text without .ze_info: a small YAML. It must not know how
// text is parsed.
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"
#include "runtime/loader/visa_text.hpp"

namespace eum::rt {

/// kernels:
///   - name: saxpy
///     local_ids: 3            # dimensions of local ids behind r0, 0 to 3 (0)
///     slm_bytes: 0            # of the kernel itself (0)
///     barriers: 0             # (0)
///     scratch_bytes: 0        # of a thread (0)
///     arguments:              # in their order
///       - {kind: value, name: a, variable: V0034}
///       - {kind: buffer, name: x, variable: V0035, surface: 0}
///       - {kind: local, variable: V0036, alignment: 16}
///     dispatch:               # what the range says, by .ze_info's names: local_size, global_id_offset, ...
///       - {item: local_size, variable: V0041}
/// `variable` is one of an .input line of the text, `at` (0) a byte of it; `offset` and `size` instead, bytes
/// from r0 on, need no variable. A buffer has its address, its entry of the binding table, or both. Errors
/// begin with "line N: ".
Result<std::vector<KernelDraft>> read_argument_map(std::string_view text,
                                                   const std::vector<ParsedText>& kernels,
                                                   unsigned grf_bytes);

}  // namespace eum::rt
