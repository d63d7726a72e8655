// `eumulate isa` against the tables from which it is generated.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/message.hpp"
#include "tests/cli/program.hpp"

using cli_test::eumulate;
using namespace eum;
using nlohmann::json;

namespace {

json listed(gen::Family family) {
  const auto done = eumulate({"isa", "--family", std::string(gen::info(family).name), "--json"});
  REQUIRE(done.code == 0);
  return json::parse(done.out);
}

/// "add", or "math.inv" and so on.
std::vector<std::string> names_of(gen::Opcode opcode, gen::Family family) {
  const std::string name(gen::info(opcode).name);
  if (gen::shape(opcode, family).format != gen::Format::Math) return {name};
  std::vector<std::string> names;
#define GEN_MATH(function, code, text, ...) names.push_back(name + "." text);
#include "frontend/gen/math_functions.def"
#undef GEN_MATH
  return names;
}

constexpr gen::Family families[] = {
#define GEN_FAMILY(name, ...) gen::Family::name,
#include "frontend/gen/families.def"
#undef GEN_FAMILY
};

/// The lowering functions that instructions.def names.
constexpr std::string_view handlers[] = {
#define GEN_OP(name, text, number, families, format, dst, src, caps, lower, ...) #lower,
#include "frontend/gen/instructions.def"
#undef GEN_OP
};

}  // namespace

TEST_CASE("isa lists each row of instructions.def once, with what the row says", "[cli]") {
  for (const gen::Family family : families) {
    INFO(gen::info(family).name);
    const json isa = listed(family);
    CHECK(isa["family"] == gen::info(family).name);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < gen::opcode_count; ++i) {
      const auto opcode = static_cast<gen::Opcode>(i);
      if (!gen::exists_on(opcode, family)) continue;
      for (const std::string& name : names_of(opcode, family)) {
        INFO(name);
        ++expected;
        std::vector<json> rows;
        for (const json& row : isa["instructions"])
          if (row["name"] == name && row["opcode"] == gen::info(opcode).number) rows.push_back(row);
        REQUIRE(rows.size() == 1);
        const gen::OpcodeShape& shape = gen::shape(opcode, family);
        for (std::size_t t = 0; t < gen::type_table.size(); ++t) {
          const auto type = static_cast<gen::Type>(t);
          if (type == gen::Type::none || shape.format == gen::Format::Math) continue;
          const auto has = [&](const json& list) {
            return std::find(list.begin(), list.end(), gen::info(type).name) != list.end();
          };
          CHECK(has(rows[0]["destination_types"]) == gen::contains(shape.dst_types, type));
          CHECK(has(rows[0]["source_types"]) == gen::contains(shape.src_types, type));
        }
        const bool modelled = handlers[i] != "lower_unsupported";
        if (!modelled) CHECK(rows[0]["engines"]["avx2"] == "unsupported");
        CHECK((rows[0]["engines"]["avx2"] == "unsupported") ==
              (rows[0]["engines"]["reference"] == "unsupported"));
        if (rows[0]["engines"]["avx2"] == "unsupported") CHECK(rows[0]["reason"] != "");
      }
    }
    CHECK(isa["instructions"].size() == expected);
    std::size_t messages = 0;
#define GEN_MESSAGE(kind, ...) messages += gen::info(gen::MessageKind::kind).families.contains(family);
#include "frontend/gen/messages.def"
    CHECK(isa["messages"].size() == messages);
  }
}

TEST_CASE("isa knows what executes an instruction", "[cli]") {
  const json isa = listed(gen::Family::Gen9);
  std::map<std::string, std::string> engine;
  for (const json& row : isa["instructions"]) engine[row["name"]] = row["engines"]["avx2"];
  for (const char* native : {"mov", "add", "cmp", "csel", "goto", "math.inv"}) {
    INFO(native);
    CHECK(engine[native] == "native");
  }
  for (const char* expanded : {"lrp", "math.sin"}) {
    INFO(expanded);
    CHECK(engine[expanded] == "expanded");
  }
  for (const json& row : isa["messages"]) {
    INFO(row["name"]);
    if (row["name"] == "oword_block_read" || row["name"] == "memory_fence" || row["name"] == "sample")
      CHECK(row["engines"]["avx2"] == "native");
  }
}

TEST_CASE("isa names no fault of an instruction on any family", "[cli]") {
  for (const gen::Family family : families) {
    const json isa = listed(family);
    for (const json& row : isa["instructions"]) {
      INFO(gen::info(family).name << " " << row["name"]);
      CHECK(row["reason"] == "");
      CHECK(row["engines"]["avx2"] != "unsupported");
    }
  }
}

TEST_CASE("isa names the messages and operations of the sampler that are faults", "[cli]") {
  const std::vector<std::string> known = {"rc_render_target_write", "transpose_read",       "a64_status_read",
                                          "open_gateway",           "close_gateway",        "forward_message",
                                          "get_timestamp",          "update_gateway_state", "mmio_access"};
  for (const gen::Family family : families) {
    const json isa = listed(family);
    for (const json& row : isa["messages"]) {
      INFO(gen::info(family).name << " " << row["name"]);
      const bool is_fault = std::find(known.begin(), known.end(), row["name"]) != known.end();
      CHECK((row["engines"]["avx2"] == "unsupported") == is_fault);
      if (row["name"] == "sample")
        CHECK_THAT(row["reason"].get<std::string>(), Catch::Contains("sample_8x8"));
      else
        CHECK((row["reason"] != "") == is_fault);
    }
  }
}

TEST_CASE("isa prints as a table what it says in JSON", "[cli]") {
  const auto text = eumulate({"isa"});  // Gen9 by default
  CHECK(text.code == 0);
  std::istringstream lines(text.out);
  std::map<std::string, std::string> by_name;
  for (std::string line; std::getline(lines, line);) by_name[line.substr(0, line.find(' '))] = line;
  const json all = listed(gen::Family::Gen9);
  for (const json& row : all["instructions"]) {
    const std::string name = row["name"];
    INFO(name);
    REQUIRE(by_name.count(name) == 1);
    CHECK_THAT(by_name[name], Catch::Contains(row["engines"]["avx2"].get<std::string>()) &&
                                  Catch::Contains(row["modifiers"].get<std::string>()));
  }
}

TEST_CASE("isa of a family that there is not is an error in one line", "[cli]") {
  const auto done = eumulate({"isa", "--family", "gen99"});
  CHECK(done.code == 1);
  CHECK(cli_test::is_one_line(done));
  CHECK_THAT(done.err,
             Catch::Contains("--family: expected one of gen7, ") && Catch::Contains("found 'gen99'"));
}
