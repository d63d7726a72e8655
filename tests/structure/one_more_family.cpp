// Built by rows.sh with an additional row in families.def, Gen99 with the encoding of Gen9: the row alone
// must suffice for decoding and text, and its limits must hold.
#include <cstdio>
#include <string>

#include "frontend/gen/instruction.hpp"

int main() {
  using namespace eum;
  const auto family = gen::parse_family("gen99");
  if (!family) {
    std::printf("gen99 is no family\n");
    return 1;
  }
  // and (8|M0) r4.0<1>:ud r2.0<8;8,1>:ud r3.0<8;8,1>:ud, from iga64 -p 9
  constexpr unsigned char bytes[] = {0x05, 0x00, 0x60, 0x00, 0x08, 0x02, 0x80, 0x20,
                                     0x40, 0x00, 0x8d, 0x02, 0x60, 0x00, 0x8d, 0x00};
  const auto code = std::as_bytes(std::span(bytes));
  const auto instruction = gen::decode(code, 0, *family);
  if (!instruction) {
    std::printf("%s\n", instruction.error().message.c_str());
    return 1;
  }
  const auto gen9 = gen::decode(code, 0, gen::Family::Gen9);
  if (!gen9) return 1;
  const std::string ours = gen::print(*instruction, *family), theirs = gen::print(*gen9, gen::Family::Gen9);
  if (ours == theirs && ours.find("and (8|M0)") != std::string::npos) return 0;
  std::printf("expected \"%s\", found \"%s\"\n", theirs.c_str(), ours.c_str());
  return 1;
}
