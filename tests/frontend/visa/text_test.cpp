// Text to data and back: each instruction has a line, and each text is printed unchanged.
#include <catch2/catch.hpp>
#include <set>

#include "frontend/visa/form.hpp"
#include "frontend/visa/lsc_form.hpp"
#include "frontend/visa/parser.hpp"
#include "frontend/visa/printer.hpp"
#include "tests/frontend/visa/texts.hpp"

namespace eum::visa::test {

TEST_CASE("each row of opcodes.def and lsc_ops.def has a line, and each line prints to itself") {
  const std::string text = read_text("instructions.visaasm");
  auto module = parse(text);
  INFO((module ? "" : module.error().message));
  REQUIRE(module);
  REQUIRE(module->kernels.size() == 1);
  const Kernel& kernel = module->kernels[0];

  std::vector<std::string> lines = lines_of(text);
  const auto is_declaration = [](const std::string& line) {
    return line[0] == '.' && !line.starts_with(".function") && !line.starts_with(".file") &&
           !line.starts_with(".loc");
  };
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_declaration), lines.end());
  REQUIRE(lines.size() == kernel.instructions.size());

  std::set<Opcode> opcodes;
  std::set<LscOp> lsc_ops;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Instruction& inst = kernel.instructions[i];
    CHECK(print(kernel, inst) == lines[i]);
    opcodes.insert(inst.opcode);
    if (inst.opcode == Opcode::lsc) lsc_ops.insert(kernel.lsc[inst.lsc].op);
  }
  for (std::size_t i = 0; i < opcode_count; ++i) {
    INFO("no line has " << opcode_table[i].text);
    CHECK(opcodes.contains(static_cast<Opcode>(i)));
  }
  for (std::size_t i = 0; i < lsc_op_count; ++i) {
    INFO("no line has lsc_" << lsc_op_table[i].text);
    CHECK(lsc_ops.contains(static_cast<LscOp>(i)));
  }
}

TEST_CASE("names of instructions differ, and numbers differ with their sub-numbers") {
  std::set<std::string_view> names, lsc_names;
  std::set<std::pair<int, int>> numbers;
  std::set<int> lsc_numbers;
  for (const OpcodeInfo& row : opcode_table) {
    INFO(row.text);
    CHECK(names.insert(row.text).second);
    if (row.text != "fccall")
      CHECK(numbers.insert({row.number, row.sub}).second);  // call with a different convention
  }
  for (const LscOpInfo& row : lsc_op_table) {
    INFO(row.text);
    CHECK(lsc_names.insert(row.text).second);
    CHECK(lsc_numbers.insert(row.number).second);
  }
}

TEST_CASE("what was printed parses and prints to itself") {
  for (const std::string& name : text_names()) {
    INFO(name);
    auto module = parse(read_text(name));
    INFO((module ? "" : module.error().message));
    REQUIRE(module);
    const std::string printed = print(*module);
    auto again = parse(printed);
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK(print(*again) == printed);
    REQUIRE(again->kernels.size() == module->kernels.size());
    for (std::size_t i = 0; i < module->kernels.size(); ++i) {
      CHECK(again->kernels[i].instructions.size() == module->kernels[i].instructions.size());
      CHECK(again->kernels[i].variables.size() == module->kernels[i].variables.size());
    }
  }
}

TEST_CASE("other spellings mean what the printed ones say") {
  const std::vector<std::string> expected = lines_of(read_text("syntax.expected"));
  auto module = parse(read_text("syntax.visaasm"));
  INFO((module ? "" : module.error().message));
  REQUIRE(module);
  CHECK(lines_of(print(*module)) == expected);
}

TEST_CASE("lines may end with a carriage return, the last one with nothing") {
  std::string text = kernel_with("    ret (M1, 1)");
  const auto plain = parse(text);
  std::string returns;
  for (char c : text) returns += c == '\n' ? "\r\n" : std::string(1, c);
  returns.resize(returns.size() - 2);
  const auto module = parse(returns);
  INFO((module ? "" : module.error().message));
  REQUIRE(module);
  CHECK(print(*module) == print(*plain));
}

}  // namespace eum::visa::test
