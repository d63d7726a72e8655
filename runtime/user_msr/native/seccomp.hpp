#pragma once
// System call filters of the program: whether one ends the process because of the runner's calls. It must not
// know the runner.
#include <linux/filter.h>

#include <span>

namespace eum::rt::native {

/// Whether the filter ends the process at one of the runner's calls, or hands the call to another process. A
/// call that merely fails is acceptable.
bool is_deadly(std::span<const sock_filter> filter);

/// The same for filters with which the process was started, by testing; false if there are none.
bool is_started_confined();

}  // namespace eum::rt::native
