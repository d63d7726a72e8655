// Any bytes as formats and as the buffer of a kernel that prints: text, or a reason why the text is
// incomplete; never more text than the limit.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/printf/printf_buffer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  std::vector<std::string> formats;
  std::vector<std::byte> buffer;
  // Lines up to an empty one are formats; the rest is the buffer.
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (;;) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (line.empty()) break;
    formats.push_back(rt::unescaped(line));
  }
  const auto bytes = std::as_bytes(std::span(rest));
  buffer.assign(bytes.begin(), bytes.end());
  mem::AddressSpace space;
  const std::string name = "strings";
  alignas(8) char strings[64] = "%d %s\n\0%v4f";
  static_cast<void>(
      space.map(0x1000, sizeof strings, reinterpret_cast<std::byte*>(strings), mem::Access::ReadWrite, name));
  for (const auto* numbered : {&formats, static_cast<std::vector<std::string>*>(nullptr)}) {
    const rt::PrintfText printed = rt::read_printf_buffer(buffer, {numbered, &space, 8});
    if (printed.text.size() > rt::most_printf_text) std::abort();
  }
  if (buffer.size() >= 4) rt::clear_printf_buffer(buffer, false);
  return 0;
}
