// A whole kernel to text: labels where iga64 puts them, and why an instruction does not decode.
#include <algorithm>
#include <vector>

#include "frontend/gen/instruction.hpp"

namespace eum::gen {
namespace {

std::string label_text(std::int64_t offset) {
  return offset < 0 ? fmt::format("L_N{}:\n", -offset) : fmt::format("L{}:\n", offset);
}

}  // namespace

std::string disassemble(std::span<const std::byte> kernel, Family family) {
  // First the labels: the start, what branches lead to, and what follows a branch or the end of the thread.
  std::vector<std::int64_t> labels{0};
  const auto for_each = [&](auto&& visit) {
    std::size_t offset = 0;
    while (kernel.size() - offset >= 8) {
      const std::size_t length = length_at(kernel, offset, family);
      if (kernel.size() - offset < length) break;
      visit(offset, length);
      offset += length;
    }
    return offset;
  };
  const std::size_t end = for_each([&](std::size_t offset, std::size_t length) {
    const Result<Instruction> i = decode(kernel, offset, family);
    if (!i) return;
    if (i->jip.present) labels.push_back(i->jip.offset);
    if (i->uip.present) labels.push_back(i->uip.offset);
    if (is_branch(i->opcode) || i->send.eot) labels.push_back(static_cast<std::int64_t>(offset + length));
  });
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());

  std::string out;
  auto next = labels.begin();
  for_each([&](std::size_t offset, std::size_t length) {
    for (; next != labels.end() && *next <= static_cast<std::int64_t>(offset); ++next)
      out += label_text(*next);
    const Result<Instruction> i = decode(kernel, offset, family);
    if (i)
      out += print(*i, family);
    else
      out += fmt::format("        illegal{}  // {}", length == 8 ? " {Compacted}" : "", i.error().message);
    out += '\n';
  });
  for (; next != labels.end(); ++next) out += label_text(*next);
  if (end != kernel.size()) out += fmt::format("// truncated instruction: {} bytes\n", kernel.size() - end);
  return out;
}

}  // namespace eum::gen
