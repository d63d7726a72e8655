#pragma once
// Sets up the environment so that the dynamic loader loads the runner's library into a program and its
// children.
#include <string>

#include "memory/base/result.hpp"

namespace eum::cli {

/// A path of the library that LD_PRELOAD can hold: the library's own, or, if that contains characters at
/// which the loader splits or that it expands, a symbolic link to it in a folder of the user.
Result<std::string> preload_path(const std::string& library);

/// Prepends the path to LD_PRELOAD, unless it is there, and makes gcc's sanitizers accept that.
void add_to_environment(const std::string& path);

}  // namespace eum::cli
