// Any text: the parser must not crash; what it accepts must print to text that parses and prints to the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "frontend/visa/parser.hpp"
#include "frontend/visa/printer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum::visa;
  auto module = parse({reinterpret_cast<const char*>(data), size});
  if (!module) return 0;
  const std::string text = print(*module);
  auto again = parse(text);
  const std::string problem = !again ? again.error().message : print(*again) != text ? "another text" : "";
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n%s\n", problem.c_str(), text.c_str());
    std::abort();
  }
  return 0;
}
