// Disassembles with objdump; registers and mnemonic suffixes tell which instructions are packed.
#include "perf/contenders/host_code.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <memory>

namespace eum::perf {
namespace {

bool is_move(std::string_view mnemonic) {
  for (const std::string_view prefix : {"mov", "vmov", "push", "pop", "nop", "lea", "vzero", "ret", "kmov"})
    if (mnemonic.starts_with(prefix)) return true;
  return false;
}

/// addss, vmulsd, vfmadd231ss, vcvtsi2ss, vpextrd, ...: instructions on one element of a register.
bool is_scalar(std::string_view mnemonic) {
  for (const std::string_view part : {"ss", "sd", "si2", "2si", "2usi", "usi2", "extr", "insr"})
    if (mnemonic.ends_with(part) || (part.size() > 2 && mnemonic.find(part) != std::string_view::npos))
      return true;
  return mnemonic == "ptest" || mnemonic == "vptest";
}

void count(HostCode& code, std::string_view line) {
  const size_t end = line.find_first_of(" \t");
  const std::string_view mnemonic = line.substr(0, end), operands = end == line.npos ? "" : line.substr(end);
  if (is_move(mnemonic)) return;
  const auto has = [&](std::string_view reg) { return operands.find(reg) != std::string_view::npos; };
  if (is_scalar(mnemonic))
    code.other++;
  else if (has("zmm"))
    code.packed[2]++;
  else if (has("ymm"))
    code.packed[1]++;
  else if (has("xmm"))
    code.packed[0]++;
  else
    code.other++;
}

}  // namespace

unsigned HostCode::bits() const {
  const unsigned all = other + packed[0] + packed[1] + packed[2];
  for (size_t k = 3; k-- > 0;)
    if (packed[k] * (k == 0 ? 20 : 50) > all) return 128u << k;
  return 64;
}

double HostCode::packed_share() const {
  const unsigned sum = packed[0] + packed[1] + packed[2];
  return sum == 0 ? 0 : static_cast<double>(sum) / (sum + other);
}

std::string HostCode::text() const {
  return bits() == 64 ? "scalar" : fmt::format("{} ({:.0f} %)", bits(), packed_share() * 100);
}

HostCode inspect_listing(std::string_view listing) {
  HostCode code;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    std::string_view line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.find(':') != line.npos || line[0] == ';' || line[0] == '#') continue;
    count(code, line);
  }
  return code;
}

Result<HostCode> inspect_file(const std::string& path, const std::string& symbol) {
  const std::string command = fmt::format("objdump --no-show-raw-insn --no-addresses {} '{}' 2>/dev/null",
                                          symbol.empty() ? "-d" : "--disassemble=" + symbol, path);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return error("cannot run {}", command);
  std::string text;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe.get())) text.append(part.data(), size);
  const HostCode code = inspect_listing(text);
  if (code.other + code.packed[0] + code.packed[1] + code.packed[2] == 0)
    return error("{}: objdump shows no code of {}", path, symbol.empty() ? "it" : symbol);
  return code;
}

}  // namespace eum::perf
