// Fuzzes the reader of line tables: no file may crash it, its rows ascend, and refusals give a reason. Seeds:
// tests/fuzz/corpus/debug_line.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/loader/debug_line.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = eum::rt::read_line_table(std::as_bytes(std::span(data, size)), "lines");
  if (!table) {
    if (table.error().message.empty()) std::abort();
    return 0;
  }
  for (std::size_t i = 1; i < table->rows.size(); ++i)
    if (table->rows[i - 1].ip > table->rows[i].ip) std::abort();
  for (std::uint32_t line = 0; line < 20; ++line)
    if (const auto ip = table->find("lines.cl", line)) table->at(*ip);
  return 0;
}
