#pragma once
// within_host: the boundary between libraries that throw and this project's code, which returns Results.
// Separate from result.hpp, which is also included by code compiled without exceptions.
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "memory/base/result.hpp"

namespace eum {

/// Calls `function`, which returns a Result, and turns exceptions by which the host refuses a resource into
/// an error about `what`, so that no exception reaches whoever embeds the library.
template <class Function>
auto within_host(std::string_view what, Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return host_error("{}: the host has no memory for it", what);
  } catch (const std::length_error&) {  // a container that would be larger than any memory
    return host_error("{}: the host has no memory for it", what);
  } catch (const std::system_error& e) {  // threads
    return host_error("{}: {}", what, e.what());
  }
}

}  // namespace eum
