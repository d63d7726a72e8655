// Disassembles a whole kernel: labels where iga64 puts them, and the reason where an instruction does not
// decode.
#include <algorithm>
#include <charconv>
#include <vector>

#include "frontend/gen/instruction.hpp"

namespace eum::gen {
namespace {

std::string label_text(std::int64_t offset) {
  return offset < 0 ? fmt::format("L_N{}:\n", -offset) : fmt::format("L{}:\n", offset);
}

/// `line` with its labels in hexadecimal.
std::string with_hex_labels(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t digits = at + 1;
    if (line.substr(digits).starts_with("_N")) digits += 2;
    std::int64_t offset = 0;
    const bool begins_word = at == 0 || line[at - 1] == ' ';
    if (line[at] == 'L' && begins_word) {
      const auto [end, failure] = std::from_chars(line.data() + digits, line.data() + line.size(), offset);
      if (failure == std::errc{}) {
        text += fmt::format("{}{:#x}", line.substr(at, digits - at), offset);
        at = static_cast<std::size_t>(end - line.data());
        continue;
      }
    }
    text += line[at++];
  }
  return text;
}

}  // namespace

std::string disassemble(std::span<const std::byte> kernel, Family family, bool offsets) {
  // First pass, labels: the start, branch targets, and instructions after a branch or the end of the thread.
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

  constexpr std::size_t comment_column = 80;
  const auto label = [&](std::int64_t offset) {
    return offsets ? with_hex_labels(label_text(offset)) : label_text(offset);
  };
  std::string out;
  auto next = labels.begin();
  for_each([&](std::size_t offset, std::size_t length) {
    for (; next != labels.end() && *next <= static_cast<std::int64_t>(offset); ++next) out += label(*next);
    const Result<Instruction> i = decode(kernel, offset, family);
    const std::string line =
        i ? print(*i, family)
          : fmt::format("        illegal{}  // {}", length == 8 ? " {Compacted}" : "", i.error().message);
    out += offsets ? fmt::format("{:{}}  // {:#x}", with_hex_labels(line), comment_column, offset) : line;
    out += '\n';
  });
  for (; next != labels.end(); ++next) out += label(*next);
  if (end != kernel.size()) out += fmt::format("// truncated instruction: {} bytes\n", kernel.size() - end);
  return out;
}

}  // namespace eum::gen
