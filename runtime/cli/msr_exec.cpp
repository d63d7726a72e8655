// Parses the arguments, executes instruction by instruction, prints.
#include "runtime/cli/msr_exec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <optional>

#include "frontend/x86/printer.hpp"
#include "runtime/user_msr/machine.hpp"

namespace eum::cli {
namespace {

constexpr std::uint64_t bitmap_address = 0xffff800000000000;
constexpr std::uint64_t code_address = 0x401000;

struct alignas(4096) Page {
  std::array<std::byte, 4096> bytes{};
};

Result<std::vector<std::uint8_t>> parse_hex(const std::vector<std::string>& words) {
  std::string digits;
  for (const std::string& word : words) {
    std::string_view text = word;
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    for (char c : text) {
      if (c == ' ' || c == ',') continue;
      if (!std::isxdigit(static_cast<unsigned char>(c)))
        return error("expected hexadecimal digits, found \"{}\"", word);
      digits += c;
    }
    if (digits.size() % 2 != 0) return error("expected two digits a byte, found \"{}\"", word);
  }
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  if (bytes.empty()) return error("expected bytes, found none");
  return bytes;
}

Result<void> set_register(rt::Machine& machine, const std::string& text) {
  std::size_t equals = text.find('=');
  auto name =
      std::find(x86::gpr_names.begin(), x86::gpr_names.end(), std::string_view(text).substr(0, equals));
  std::uint64_t value;
  if (equals == std::string::npos || name == x86::gpr_names.end() ||
      !rt::parse_number(text.data() + equals + 1, text.size() - equals - 1, value))
    return error("expected REGISTER=NUMBER such as rcx=0x10, found \"{}\"", text);
  machine.set_gpr(static_cast<unsigned>(name - x86::gpr_names.begin()), value);
  return {};
}

std::string state_text(const rt::Machine& machine) {
  std::string text = fmt::format("  rip {:#018x}  cpl {}  IA32_USER_MSR_CTL {:#018x}\n", machine.rip(),
                                 machine.cpl(), machine.user_msr_ctl());
  for (unsigned reg = 0; reg < x86::legacy_gpr_count; ++reg)
    text += fmt::format("  {:3} {:#018x}{}", x86::gpr_names[reg], machine.gpr(reg), reg % 4 == 3 ? "\n" : "");
  for (std::uint32_t i = 0; i < machine.msrs().size(); ++i) {
    const rt::MsrSlot& slot = machine.msrs().slot(i);
    if (slot.source == rt::MsrSource::Value || slot.source == rt::MsrSource::Counter)
      text += fmt::format("  msr {:#06x} {:#018x}  {}\n", slot.address, slot.value.load(),
                          machine.msrs().name(i));
  }
  return text;
}

Result<void> configure(rt::Machine& machine, const MsrExec& exec, const rt::MsrConfig* config, Page& page) {
  if (config != nullptr) {
    if (Result<void> added = machine.msrs().add_all(*config); !added) return added;
    std::memcpy(page.bytes.data(), config->bitmap.data(), page.bytes.size());
  }
  if (Result<void> mapped = machine.memory().map(bitmap_address, page.bytes, {}); !mapped) return mapped;
  machine.set_rip(code_address);
  machine.vmx().in_guest = exec.guest;
  if (Result<void> set = machine.set_cpl(exec.cpl); !set) return set;
  if (Result<void> set = machine.set_user_msr_ctl(bitmap_address | (exec.disabled ? 0 : 1)); !set) return set;
  for (const std::string& text : exec.set)
    if (Result<void> set = set_register(machine, text); !set) return set;
  return {};
}

}  // namespace

Result<MsrExecResult> exec_msr_bytes(const MsrExec& exec, const rt::MsrConfig* config) {
  Result<std::vector<std::uint8_t>> bytes = parse_hex(exec.hex);
  if (!bytes) return bytes.error();
  rt::MachineOptions options;
  if (exec.engine == "reference")
    options.engine = jit::EngineKind::reference;
  else if (exec.engine != "avx2")
    return error("expected engine avx2 or reference, found {}", exec.engine);
  Page page;  // declared before the machine, which maps it
  Result<std::unique_ptr<rt::Machine>> made = rt::Machine::create(options);
  if (!made) return made.error();
  rt::Machine& machine = **made;
  if (Result<void> configured = configure(machine, exec, config, page); !configured)
    return configured.error();

  MsrExecResult result;
  result.text = "before\n" + state_text(machine) + "executed\n";
  std::span<const std::uint8_t> rest(*bytes);
  result.completed = true;
  while (result.completed && !rest.empty()) {
    x86::Decoding d = x86::decode(rest, machine.mode());
    std::string shown;
    std::size_t length = d.length ? d.length : rest.size();
    for (std::size_t i = 0; i < length; ++i) shown += fmt::format("{:02x} ", rest[i]);
    rt::Outcome outcome = machine.step(rest);
    result.completed = outcome.kind == rt::Outcome::Kind::Done;
    result.text +=
        fmt::format("  {:#x}  {:28}{:28}{}\n", machine.rip() - (result.completed ? d.length : 0), shown,
                    d.verdict == x86::Verdict::Instruction ? x86::print(d.instruction) : "(not decoded)",
                    result.completed ? "done" : outcome.text());
    rest = rest.subspan(length);
  }
  result.text += "after\n" + state_text(machine);
  return result;
}

}  // namespace eum::cli
