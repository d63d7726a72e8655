// Any bytes: the decoder agrees with the oracle, an instruction survives encoding, every shorter prefix of it
// is truncated, and bytes after it change nothing.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "frontend/x86/decoder.hpp"
#include "frontend/x86/encoder.hpp"
#include "frontend/x86/printer.hpp"
#include "tests/frontend/x86/oracle.cpp"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "x86_decoder: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum::x86;
  const std::vector<std::uint8_t> bytes(data, data + size);
  for (Mode mode : {Mode::Bits16, Mode::Bits32, Mode::Bits64}) {
    Decoding d = decode(bytes, mode);
    test::Oracle o = test::oracle_decode(bytes, mode == Mode::Bits16 ? 16 : mode == Mode::Bits32 ? 32 : 64);
    require(static_cast<int>(d.verdict) == static_cast<int>(o.kind), "verdict differs from the oracle");
    require(d.length == o.length, "length differs from the oracle");
    require(d.length <= max_length && d.length <= size, "length beyond the bytes");
    require((d.verdict == Verdict::Undefined) == (d.why != Undefined::None), "#UD without a reason");
    if (d.verdict != Verdict::Instruction) continue;
    Encoded encoded = encode(d.instruction);
    require(encoded.length <= d.length, "the encoder is not the shortest");
    Decoding again = decode(encoded.view(), Mode::Bits64);
    require(again.verdict == Verdict::Instruction && again.instruction == d.instruction, "no round trip");
    require(!print(d.instruction).empty(), "no text");
    for (std::size_t n = 0; n < d.length; ++n)
      require(decode({data, n}, mode).verdict == Verdict::Truncated, "a prefix is not truncated");
    require(decode({data, d.length}, mode).instruction == d.instruction, "bytes after it count");
  }
  return 0;
}
