#pragma once
// The environment that makes the dynamic loader load the runner's library into a program and its children.
#include <string>

#include "memory/base/result.hpp"

namespace eum::cli {

/// A path of the library that LD_PRELOAD can hold: the library's own, or where that has characters at which
/// the loader splits or that it replaces, a symbolic link to it in a folder of the user's.
Result<std::string> preload_path(const std::string& library);

/// Puts the path in front of LD_PRELOAD, unless it is there, and lets sanitizers of gcc accept that.
void add_to_environment(const std::string& path);

}  // namespace eum::cli
