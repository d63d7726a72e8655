#pragma once
// The argument map that a user writes for vISA text without .ze_info: a small YAML file. It must not know how
// text is parsed.
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"
#include "runtime/loader/visa_text.hpp"

namespace eum::rt {

/// kernels:
///   - name: saxpy
///     local_ids: 3            # dimensions of local ids after r0, 0 to 3 (default 0)
///     slm_bytes: 0            # of the kernel itself (default 0)
///     barriers: 0             # (default 0)
///     scratch_bytes: 0        # per thread (default 0)
///     arguments:              # in order
///       - {kind: value, name: a, variable: V0034}
///       - {kind: buffer, name: x, variable: V0035, surface: 0}
///       - {kind: local, variable: V0036, alignment: 16}
///     dispatch:               # from the range, by .ze_info's names: local_size, global_id_offset, ...
///       - {item: local_size, variable: V0041}
/// `variable` is named by an .input line of the text, `at` (default 0) is a byte offset in it; alternatively
/// `offset` (bytes from r0) and `size` need no variable. A buffer has an address, a binding table entry, or
/// both. Errors begin with "line N: ".
Result<std::vector<KernelDraft>> read_argument_map(std::string_view text,
                                                   const std::vector<ParsedText>& kernels,
                                                   unsigned grf_bytes);

}  // namespace eum::rt
