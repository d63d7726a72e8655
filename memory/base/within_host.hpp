#pragma once
// within_host: the border between libraries that throw and ours, which return Results. Apart from result.hpp,
// which code without exceptions includes too.
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "memory/base/result.hpp"

namespace eum {

/// Calls `function`, which returns a Result. What the host refuses it by exception is an error about `what`:
/// whoever embeds the library sees no exception of ours.
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
