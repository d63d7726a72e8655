#pragma once
// ProgramText: programs of micro-ops that tests write at random, as text.
#include <fmt/format.h>

#include <random>
#include <string>

namespace eum::jit::test {

class ProgramText {
 protected:
  explicit ProgramText(unsigned seed) : random_(seed) {}

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  std::string new_value() { return fmt::format("%v{}", values_++); }
  /// An instruction of one result, whose name it returns.
  template <class... Args>
  std::string define(fmt::format_string<Args...> format, Args&&... args) {
    const std::string id = new_value();
    line("{} = {}", id, fmt::format(format, std::forward<Args>(args)...));
    return id;
  }

  std::mt19937 random_;
  std::string body_;

 private:
  unsigned values_ = 0;
};

}  // namespace eum::jit::test
