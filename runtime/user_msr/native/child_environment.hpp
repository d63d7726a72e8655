#pragma once
// The environment that brings the runner into a program that this one starts, whatever the program puts into
// that environment. Safe in a child of vfork: nothing is allocated after startup. It must not know how
// programs are started.
#include <array>
#include <cstddef>
#include <string>

namespace eum::rt::native {

class ChildEnvironment {
 public:
  /// Remembers the variables that `eumulate msr run` has set.
  void remember();
  /// Whether it has set any; otherwise children are not followed.
  bool is_known() const { return !library_.empty(); }

  /// How many more pointers `build` may need, including the null pointer.
  static constexpr std::size_t more = 7;
  static std::size_t count(char* const* environment);
  /// Maximum length of the text that `build` writes.
  std::size_t text_bytes(char* const* environment) const;
  /// Writes the environment to `to`, which has room for `more` pointers besides those of `environment`.
  /// Returns `environment` itself if it suffices.
  char* const* build(char* const* environment, char** to, char* text) const;

 private:
  std::string library_, preload_, config_, config_name_;
  std::array<std::string, 4> others_;  // "NAME=value" or empty
};

}  // namespace eum::rt::native
