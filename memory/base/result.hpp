#pragma once
// Result: a value, or an Error that says what was expected and what was found. It lives in the lowest layer
// because every layer returns it.
#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace eum {

/// Who is responsible for an error.
enum class Cause : unsigned char {
  Request,  ///< the caller, a file or the guest
  Host,     ///< the host lacks memory, threads or the like: the same request may succeed another time
  Bug,      ///< this project
};

/// One clear line for a human: what was expected, what was found, where.
struct Error {
  std::string message;
  Cause cause = Cause::Request;
};

/// Builds an Error from a fmt format string.
template <class... Args>
Error error(fmt::format_string<Args...> format, Args&&... args) {
  return Error{fmt::format(format, std::forward<Args>(args)...)};
}

/// The same for a resource that the host lacks.
template <class... Args>
Error host_error(fmt::format_string<Args...> format, Args&&... args) {
  return Error{fmt::format(format, std::forward<Args>(args)...), Cause::Host};
}

/// "where: message"
inline Error prefixed(std::string_view where, const Error& error) {
  return Error{fmt::format("{}: {}", where, error.message), error.cause};
}

/// A T or an Error. `if (!r) return r.error();`
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace eum
