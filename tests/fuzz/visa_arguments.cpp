// Fuzzes the descriptions of the arguments of vISA text: an argument map, .ze_info or a zebin, together with
// a text that parses, and the resulting payload.
//   cmake --preset fuzz && ninja -C build/fuzz fuzz_visa_arguments
//   build/fuzz/tests/fuzz_visa_arguments -max_len=8192 -rss_limit_mb=1024 SCRATCH
//   tests/fuzz/corpus/visa_arguments
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/loader/loader.hpp"
#include "runtime/payload.hpp"

namespace {

using namespace eum;

constexpr std::string_view text =
    ".version 4.1\n"
    ".kernel \"k\"\n"
    ".decl V0032 v_type=G type=d num_elts=8 align=hword alias=<%r0, 0>\n"
    ".decl V0033 v_type=G type=f num_elts=1 align=dword\n"
    ".decl V0034 v_type=G type=uq num_elts=1 align=qword\n"
    ".decl V0035 v_type=G type=d num_elts=8 align=hword\n"
    ".input V0035 offset=128 size=32\n"
    ".input V0034 offset=160 size=8\n"
    ".input V0033 offset=168 size=4\n"
    ".kernel_attr SimdSize=16\n"
    ".function \"_main_0\"\n"
    "_main_0:\n"
    "    ret (M1, 1)\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto format = (data[0] & 1) != 0 ? rt::ArgumentFormat::Map : rt::ArgumentFormat::ZeInfo;
  const rt::NamedFile file{"k.visaasm", std::as_bytes(std::span(text))};
  const auto program =
      rt::load_visa({&file, 1}, {"arguments", std::as_bytes(std::span(data + 1, size - 1))}, format);
  if (!program) {
    if (program.error().message.empty() || program.error().message.find('\n') != std::string::npos)
      std::abort();
    return 0;
  }
  for (const rt::Kernel& kernel : program->kernels) {
    std::vector<rt::ArgumentValue> values;
    for (const rt::Argument& argument : kernel.arguments) {
      if (argument.kind == rt::ArgumentKind::Value)
        values.emplace_back(std::vector<std::byte>(argument.size));
      else if (argument.kind == rt::ArgumentKind::Pointer)
        values.emplace_back(rt::BufferValue{});
      else if (argument.kind == rt::ArgumentKind::LocalPointer)
        values.emplace_back(rt::LocalValue{64});
      else
        values.emplace_back();
    }
    rt::NdRange range;
    range.global = {40, 1, 1};
    const auto payload = rt::build_payload(kernel, values, range);
    if (payload && payload->walks.empty()) std::abort();
  }
  return 0;
}
