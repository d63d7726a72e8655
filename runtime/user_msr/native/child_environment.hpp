#pragma once
// The environment that brings the runner into a program that this one starts, whatever the program makes of
// its own. Safe in a child of vfork: nothing is allocated after the start. It must not know how programs are
// started.
#include <array>
#include <cstddef>
#include <string>

namespace eum::rt::native {

class ChildEnvironment {
 public:
  /// Remembers what `eumulate msr run` has set.
  void remember();
  /// Whether it had; else children are not followed.
  bool is_known() const { return !library_.empty(); }

  /// How many more variables `build` may need, with the null pointer.
  static constexpr std::size_t more = 7;
  static std::size_t count(char* const* environment);
  /// How long the text of `build` may become.
  std::size_t text_bytes(char* const* environment) const;
  /// Writes the environment to `to`, which has room for `more` pointers beside those of `environment`.
  /// Returns `environment` where it will do.
  char* const* build(char* const* environment, char** to, char* text) const;

 private:
  std::string library_, preload_, config_, config_name_;
  std::array<std::string, 4> others_;  // "NAME=value" or empty
};

}  // namespace eum::rt::native
