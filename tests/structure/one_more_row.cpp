// Built by rows.sh with an additional row in instructions.def, opcode 0x7d, which maps to the micro-op xor_:
// the row alone must suffice for decoding, text and lowering.
#include <cstdio>
#include <string>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/printer.hpp"

namespace {

bool contains(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  std::printf("expected \"%s\" in:\n%s\n", part, text.c_str());
  return false;
}

}  // namespace

int main() {
  using namespace eum;
  // and (8|M0) r4.0<1>:ud r2.0<8;8,1>:ud r3.0<8;8,1>:ud, from iga64, with the opcode changed; then the
  // message that ends the thread.
  constexpr unsigned char bytes[] = {0x7d, 0x00, 0x60, 0x00, 0x08, 0x02, 0x80, 0x20, 0x40, 0x00, 0x8d,
                                     0x02, 0x60, 0x00, 0x8d, 0x00, 0x31, 0x00, 0x60, 0x07, 0x04, 0x02,
                                     0x00, 0x20, 0xe0, 0x0f, 0x00, 0x06, 0x10, 0x00, 0x00, 0x82};
  const auto code = std::as_bytes(std::span(bytes));
  const auto instruction = gen::decode(code, 0, gen::Family::Gen9);
  if (!instruction) {
    std::printf("%s\n", instruction.error().message.c_str());
    return 1;
  }
  const auto function = gen::lower_kernel(code, gen::Family::Gen9, 8, "kernel");
  if (!function) {
    std::printf("%s\n", function.error().message.c_str());
    return 1;
  }
  const bool text = contains(gen::print(*instruction, gen::Family::Gen9), "row_under_test (8|M0)");
  const bool lowered = contains(ir::print(*function), "= xor.u32x8");
  return text && lowered ? 0 : 1;
}
