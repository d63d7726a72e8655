// Any text: the parser must not crash; what the parser and the verifier accept must print and parse to the
// same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "frontend/ir/parser.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum::ir;
  auto function = parse({reinterpret_cast<const char*>(data), size});
  if (!function) return 0;
  const std::string text = print(*function);
  if (!verify(*function)) return 0;
  auto again = parse(text);
  const std::string problem = again ? difference(*function, *again) : again.error().message;
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n%s\n", problem.c_str(), text.c_str());
    std::abort();
  }
  return 0;
}
