// Runs every lowering case of cases/*.visa on the engines and compares variables; cases/README.md describes
// the files. Each case becomes its own kernel: what it sets is in the payload, what it expects is stored to a
// surface.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/ir/verifier.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/parser.hpp"
#include "tests/frontend/visa/machine.hpp"

namespace eum::visa::test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned out_surface = 7;

struct Values {
  std::string variable;
  std::vector<std::string> words;
};

struct Case {
  std::string name;
  unsigned line = 0;
  unsigned simd = 16, grf = 32;
  std::uint32_t channels = ~0u;
  std::vector<std::string> declarations, body, functions;
  std::vector<Values> set, expect;
  std::string fault;
};

std::vector<Case> parse_file(const fs::path& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream in(line);
    std::string key, word;
    if (!(in >> key) || key == "//") continue;
    if (key == "case") {
      cases.emplace_back().line = number;
      in >> cases.back().name;
      continue;
    }
    INFO(path << ":" << number << ": " << line);
    REQUIRE_FALSE(cases.empty());
    Case& at = cases.back();
    const std::string rest = in.tellg() < 0 ? "" : line.substr(static_cast<std::size_t>(in.tellg()) + 1);
    if (key == "simd") {
      in >> at.simd;
    } else if (key == "grf") {
      in >> at.grf;
    } else if (key == "channels") {
      in >> word;
      at.channels = static_cast<std::uint32_t>(std::stoul(word, nullptr, 0));
    } else if (key == "decl") {
      at.declarations.push_back(rest);
    } else if (key == "do") {
      at.body.push_back(rest);
    } else if (key == "function") {
      at.functions.push_back(rest);
    } else if (key == "fault") {
      at.fault = rest;
    } else {
      REQUIRE((key == "set" || key == "expect"));
      Values values;
      in >> values.variable;
      while (in >> word) {
        const std::size_t star = word.find('*');
        const unsigned times =
            star == std::string::npos ? 1 : static_cast<unsigned>(std::stoul(word.substr(star + 1)));
        values.words.insert(values.words.end(), times, word.substr(0, star));
      }
      (key == "set" ? at.set : at.expect).push_back(std::move(values));
    }
  }
  return cases;
}

/// The bits of a word of a case as an element of `type`.
std::uint64_t bits_of(const std::string& word, Type type) {
  if (word.find('.') != std::string::npos || word == "inf" || word == "-inf") {
    const double value = std::strtod(word.c_str(), nullptr);
    if (type == Type::df) return __builtin_bit_cast(std::uint64_t, value);
    return __builtin_bit_cast(std::uint32_t, static_cast<float>(value));
  }
  return word[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), nullptr, 0))
                        : std::strtoull(word.c_str(), nullptr, 0);
}

const Variable& variable_of(const Kernel& kernel, const std::string& name) {
  for (const Variable& variable : kernel.variables)
    if (variable.name == name) return variable;
  throw std::runtime_error("no variable " + name);
}

std::string text_of(const Case& one) {
  std::string text = ".version 4.1\n.kernel \"test\"\n";
  for (const std::string& line : one.declarations) text += ".decl " + line + "\n";
  text += ".decl OUT v_type=T num_elts=1 v_name=OUT\n";
  for (std::size_t k = 0; k < one.set.size(); ++k)
    text += fmt::format(".input {} offset={}\n", one.set[k].variable, one.grf + k * 128);
  text += fmt::format(".kernel_attr SimdSize={}\n.function \"test\"\ntest:\n", one.simd);
  for (const std::string& line : one.body) text += line + "\n";
  text += fmt::format("    movs (M1_NM, 1) OUT(0) {:#x}:ud\n", out_surface);
  for (std::size_t k = 0; k < one.expect.size(); ++k)
    text += fmt::format("    oword_st (8) OUT {:#x}:ud {}.0\n", 8 * k, one.expect[k].variable);
  text += "    ret (M1, 1)\n";
  for (const std::string& line : one.functions) text += line + "\n";
  return text;
}

void run_case(const Case& one) {
  const std::string text = text_of(one);
  INFO(one.name << ", line " << one.line << "\n" << text);
  const Result<Module> module = parse(text);
  if (!module) FAIL(module.error().message);
  const Kernel& kernel = module->kernels.front();
  const Result<ir::Function> function = lower_kernel(*module, 0, one.name, {one.grf, {{"data", 0x1234}}, {}});
  if (!function) {
    INFO(function.error().message);
    CHECK_FALSE(one.fault.empty());
    CHECK(function.error().message.find(one.fault) != std::string::npos);
    return;
  }
  if (const Result<void> sound = ir::verify(*function); !sound) FAIL(sound.error().message);
  if (!one.fault.empty()) {
    const auto& strings = function->strings;
    const bool found = std::any_of(strings.begin(), strings.end(), [&](const std::string& trap) {
      return trap.find(one.fault) != std::string::npos;
    });
    INFO(fmt::format("traps: {}", fmt::join(strings, "; ")));
    CHECK(found);
    return;
  }
  Start start;
  start.channels = one.channels;
  start.payload.resize(4096);
  for (std::size_t k = 0; k < one.set.size(); ++k) {
    const Type type = variable_of(kernel, one.set[k].variable).type;
    for (std::size_t i = 0; i < one.set[k].words.size(); ++i) {
      const std::uint64_t bits = bits_of(one.set[k].words[i], type);
      std::memcpy(start.payload.data() + one.grf + k * 128 + i * info(type).bytes, &bits, info(type).bytes);
    }
  }
  Machine machine;
  for (jit::Engine* engine : engines()) {
    const Machine::Outcome outcome = machine.run(*function, *engine, start);
    REQUIRE(outcome.fault == "");
    for (std::size_t k = 0; k < one.expect.size(); ++k) {
      const Type type = variable_of(kernel, one.expect[k].variable).type;
      const unsigned bytes = info(type).bytes;
      for (std::size_t i = 0; i < one.expect[k].words.size(); ++i) {
        const std::string& word = one.expect[k].words[i];
        if (word == "any") continue;
        std::uint64_t found = 0;
        std::memcpy(&found,
                    outcome.memory.data() + out_surface * Machine::surface_bytes + 128 * k + i * bytes,
                    bytes);
        const std::uint64_t wanted = bits_of(word, type) << (64 - 8 * bytes) >> (64 - 8 * bytes);
        INFO(one.expect[k].variable << " element " << i);
        CHECK(fmt::format("{:#x}", found) == fmt::format("{:#x}", wanted));
      }
    }
  }
}

}  // namespace

TEST_CASE("visa: lowering cases") {
  std::size_t cases = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(EUMULATE_SOURCE_DIR "/tests/frontend/visa/cases")) {
    if (entry.path().extension() != ".visa") continue;
    INFO(entry.path());
    for (const Case& one : parse_file(entry.path())) {
      run_case(one);
      ++cases;
    }
  }
  CHECK(cases >= 30);
}

}  // namespace eum::visa::test
