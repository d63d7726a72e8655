// Kernels in vISA text: loaded with each form of argument description, and the errors where the two do not
// match.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <string_view>

#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"
#include "tests/runtime/binaries.hpp"

using namespace eum;
using namespace eum::rt;

namespace {

std::string corpus_text(const std::string& name) {
  const auto bytes = binaries::read(std::string(EUMULATE_SOURCE_DIR "/tests/kernels/visa/") + name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

NamedFile named(std::string name, std::string_view text) {
  return {std::move(name), std::as_bytes(std::span(text))};
}

Result<Program> load(std::string_view text, std::string_view arguments,
                     ArgumentFormat format = ArgumentFormat::ZeInfo, unsigned grf_bytes = 0) {
  const NamedFile file = named("k.visaasm", text);
  return load_visa({&file, 1}, named("arguments", arguments), format, grf_bytes);
}

std::string error_of(const Result<Program>& program) { return program ? "loads" : program.error().message; }

std::string with(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The values of y = 2 * x + y that saxpy leaves for 40 work-items, with x = 0, 1, ... and y = 1.
std::vector<float> run_saxpy(Program program) {
  auto device = Device::create({.engine = jit::EngineKind::avx2, .workers = 1});
  REQUIRE(device);
  auto module = Module::create(**device, std::move(program));
  REQUIRE(module);
  const auto kernel = (*module)->find("saxpy");
  REQUIRE(kernel);
  constexpr std::uint32_t count = 40;
  const auto x = (*device)->allocate(4 * count, "x"), y = (*device)->allocate(4 * count, "y");
  REQUIRE((x && y));
  std::vector<float> values(count, 1.0f);
  std::memcpy(y->host, values.data(), y->size);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  std::memcpy(x->host, values.data(), x->size);
  NdRange range;
  range.global = {count, 1, 1};
  const std::vector<ArgumentValue> arguments{by_value(2.0f), BufferValue{x->surface()},
                                             BufferValue{y->surface()}, by_value(count)};
  auto launch = Launch::prepare(**module, **kernel, arguments, range);
  if (!launch) FAIL(launch.error().message);
  const auto report = launch->run();
  REQUIRE(report);
  if (report->fault) FAIL(report->fault->message);
  std::memcpy(values.data(), y->host, y->size);
  return values;
}

std::vector<float> expected_saxpy() {
  std::vector<float> values(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2.0f * static_cast<float>(i) + 1.0f;
  return values;
}

constexpr std::string_view pvc_map = R"(kernels:
  - name: saxpy
    local_ids: 3
    arguments:
      - {kind: value, name: a, variable: V0034}
      - {kind: buffer, name: x, variable: V0035}
      - {kind: buffer, name: y, offset: 296, size: 8}
      - {kind: value, name: n, variable: V0037, type: int}
    dispatch:
      - {item: global_id_offset, variable: V0040}
      - {item: enqueued_local_size, variable: V0041}
)";

}  // namespace

TEST_CASE("a kernel of vISA text runs with .ze_info, with a zebin and with a map of arguments",
          "[visa_text]") {
  for (const std::string device : {"bxt", "pvc"}) {
    INFO(device);
    auto program =
        load(corpus_text("saxpy.saxpy." + device + ".visaasm"), corpus_text("saxpy." + device + ".ze_info"));
    REQUIRE(error_of(program) == "loads");
    CHECK(program->container == Container::Visa);
    CHECK(target_name(*program) == (device == "bxt" ? "registers of 32 bytes" : "registers of 64 bytes"));
    CHECK(program->kernels[0].arguments.size() == 4);
    CHECK(run_saxpy(std::move(*program)) == expected_saxpy());
  }
  const auto zebin = binaries::corpus("saxpy.zebin");
  auto with_zebin = load(corpus_text("saxpy.saxpy.bxt.visaasm"),
                         {reinterpret_cast<const char*>(zebin.data()), zebin.size()});
  REQUIRE(error_of(with_zebin) == "loads");
  CHECK(run_saxpy(std::move(*with_zebin)) == expected_saxpy());
  auto with_map = load(corpus_text("saxpy.saxpy.pvc.visaasm"), pvc_map, ArgumentFormat::Map);
  REQUIRE(error_of(with_map) == "loads");
  CHECK(describe_argument(with_map->kernels[0], 3) == "n: int");
  CHECK(run_saxpy(std::move(*with_map)) == expected_saxpy());
}

TEST_CASE("text and description that are not of one compile are told apart", "[visa_text]") {
  const std::string bxt = corpus_text("saxpy.saxpy.bxt.visaasm"),
                    pvc = corpus_text("saxpy.saxpy.pvc.visaasm"), map = corpus_text("saxpy.bxt.ze_info");
  CHECK(error_of(load(with(bxt, "\"saxpy\"", "\"daxpy\""), map)) ==
        "k.visaasm: kernel daxpy: expected one of those that arguments describes (saxpy)");
  CHECK(error_of(load(with(bxt, "SimdSize=32", "SimdSize=16"), map)) ==
        "kernel saxpy: expected text for SIMD32 as in arguments, found SIMD16");
  CHECK(
      error_of(load(with(bxt, ".input V0039 offset=288 size=12", ".input V0039 offset=320 size=12"), map)) ==
      "k.visaasm:86:1: kernel saxpy: expected inputs within the 320 bytes of payload that the arguments "
      "make, "
      "found V0039 at bytes 320 to 332: text and arguments are not of one compile");
  CHECK_THAT(error_of(load("\n.version x\n", map)), Catch::StartsWith("k.visaasm:2:"));
  CHECK(error_of(load(bxt, "")) ==
        "arguments: expected a zebin, or the text of its section .ze_info, found nothing");
  CHECK_THAT(error_of(load(bxt, "version: 2.0")), Catch::StartsWith("arguments: ze_info: version 2.0"));
  CHECK(error_of(load(pvc, corpus_text("saxpy.pvc.ze_info"), ArgumentFormat::ZeInfo, 48)) ==
        "expected registers of 32 or 64 bytes, found 48");
}

TEST_CASE("of several texts of a kernel the last with the SIMD size of the description counts",
          "[visa_text]") {
  const std::string right = corpus_text("saxpy.saxpy.bxt.visaasm"), map = corpus_text("saxpy.bxt.ze_info");
  const std::string other = with(right, "SimdSize=32", "SimdSize=16");
  const NamedFile files[] = {named("1", right), named("2", other)};
  auto program = load_visa(files, named("map", map));
  REQUIRE(error_of(program) == "loads");
  CHECK(run_saxpy(std::move(*program)) == expected_saxpy());
}

TEST_CASE("the kernel of symbols beside others is no kernel, whatever its text says of registers",
          "[visa_text]") {
  const std::string right = corpus_text("saxpy.saxpy.pvc.visaasm"), map = corpus_text("saxpy.pvc.ze_info");
  const std::string symbols =
      ".version 4.1\n.kernel \"Intel_Symbol_Table_Void_Program\"\n.kernel_attr SimdSize=32\n"
      ".function \"_main_0\"\n_main_0:\n    ret (M1, 1)\n";
  const NamedFile files[] = {named("1", right), named("2", symbols)};
  auto program = load_visa(files, named("map", map));
  REQUIRE(error_of(program) == "loads");
  CHECK(program->kernels.size() == 1);
  CHECK(run_saxpy(std::move(*program)) == expected_saxpy());
}

TEST_CASE("a variable whose address text takes needs a zebin", "[visa_text]") {
  const std::string text = corpus_text("globals.globals.pvc.visaasm");
  const auto program = load(text, corpus_text("globals.pvc.ze_info"));
  REQUIRE(error_of(program) == "loads");
  CHECK(cannot_run(program->kernels[0]) ==
        "it takes the address of state, of which arguments says nothing; a zebin of the same compile does");
  const auto complete = load(text, corpus_text("globals.pvc.zebin"));
  REQUIRE(error_of(complete) == "loads");
  CHECK(cannot_run(complete->kernels[0]).empty());
}

TEST_CASE("errors of a map of arguments say the line and what was expected", "[visa_text]") {
  const std::string text = corpus_text("saxpy.saxpy.pvc.visaasm"), map(pvc_map);
  const auto error = [&](std::string_view from, std::string_view to) {
    return error_of(load(text, with(map, from, to), ArgumentFormat::Map));
  };
  CHECK(error("name: saxpy", "name: daxpy") ==
        "arguments: line 2: expected a kernel of the text (saxpy), found 'daxpy'");
  CHECK(error("kind: buffer, name: x", "kind: image, name: x") ==
        "arguments: line 6: expected kind value, buffer or local, found 'image'");
  CHECK(error("V0035", "V9999") ==
        "arguments: line 6: kernel saxpy: expected a variable of an .input line, found 'V9999'");
  CHECK(error("variable: V0035", "variable: V0040") ==
        "arguments: line 6: expected an address of 4 or 8 bytes, found 32");
  CHECK(error("offset: 296, size: 8", "offset: 296") ==
        "arguments: line 7: expected variable, or offset and size, found offset alone");
  CHECK(error("offset: 296", "offset: 100") ==
        "arguments: line 7: expected a place from byte 256, behind r0 and local ids, to 16384, found bytes "
        "100 to 108");
  CHECK(error("local_ids: 3", "local_ids: 4") ==
        "arguments: line 3: kernel: local_ids: expected a number from 0 to 3, found '4'");
  CHECK_THAT(error("item: global_id_offset", "item: moon"),
             Catch::StartsWith("arguments: line 10: expected one of local_size, global_size"));
  CHECK_THAT(error("    dispatch:", "    dispatched:"),
             Catch::StartsWith("arguments: line 9: kernel: expected one of name, local_ids"));
  CHECK_THAT(error("kernels:", "kernels: ["), Catch::StartsWith("arguments: line "));
  CHECK_THAT(error("local_ids: 3", "local_ids: &a 3"),
             Catch::StartsWith("arguments: line 3: column 16: expected no anchor"));
}
