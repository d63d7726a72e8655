#pragma once
// System call filters of the program: whether one ends the process for what the runner does. It must not know
// the runner.
#include <linux/filter.h>

#include <span>

namespace eum::rt::native {

/// Whether the filter lets one of the runner's calls end the process, or hands it to somebody else. A call
/// that fails is fine.
bool is_deadly(std::span<const sock_filter> filter);

/// The same of the filters that the process was started with, by trying: false if there are none.
bool is_started_confined();

}  // namespace eum::rt::native
