// The loader: equal results from both containers, facts of known kernels, and clear errors for everything
// else.
#include "runtime/loader/loader.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <set>

#include "binaries.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

Program load(const std::vector<std::byte>& bytes) {
  auto program = load_program(bytes);
  if (!program) FAIL(program.error().message);
  return std::move(*program);
}

std::string error_of(std::span<const std::byte> bytes) {
  const auto program = load_program(bytes);
  REQUIRE_FALSE(program);
  const std::string message = program.error().message;
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

std::string error_of(std::string_view bytes) { return error_of(std::as_bytes(std::span(bytes))); }

// zebin refers to constants and globals by relocation, while patch tokens pass their address, which shifts
// the arguments that follow.
bool is_base_address(PayloadItem item) {
  return item == PayloadItem::ConstantBase || item == PayloadItem::GlobalBase;
}

bool has_base_address(const Kernel& kernel) {
  return std::any_of(kernel.implicit.begin(), kernel.implicit.end(),
                     [](const Patch& p) { return is_base_address(p.item); });
}

// The patches without their offsets, in an order that does not depend on them.
std::multiset<std::tuple<PayloadItem, std::uint32_t, std::uint32_t>> contents(
    const std::vector<Patch>& patches) {
  std::multiset<std::tuple<PayloadItem, std::uint32_t, std::uint32_t>> set;
  for (const Patch& p : patches) {
    if (!is_base_address(p.item)) set.emplace(p.item, p.size, p.source);
  }
  return set;
}

void check_same_kernel(const Kernel& a, const Kernel& b) {
  CAPTURE(a.name);
  CHECK(a.simd_size == b.simd_size);
  CHECK(a.grf_count == b.grf_count);
  CHECK(a.slm_bytes == b.slm_bytes);
  CHECK(a.barrier_count == b.barrier_count);
  CHECK(a.scratch_bytes == b.scratch_bytes);
  CHECK(a.private_bytes == b.private_bytes);
  CHECK(a.required_local_size == b.required_local_size);
  CHECK(a.local_ids == b.local_ids);
  CHECK(a.per_thread_bytes == b.per_thread_bytes);
  CHECK(a.unsupported == b.unsupported);
  CHECK(a.samplers == b.samplers);
  CHECK(a.border_color == b.border_color);
  CHECK(describe_arguments(a) == describe_arguments(b));
  REQUIRE(a.arguments.size() == b.arguments.size());
  const bool same_places = !has_base_address(a);
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    CAPTURE(i);
    const Argument &x = a.arguments[i], &y = b.arguments[i];
    CHECK(x.kind == y.kind);
    CHECK(x.address == y.address);
    CHECK(x.access == y.access);
    CHECK(x.name == y.name);
    CHECK(x.type_name == y.type_name);
    CHECK(x.type_qualifiers == y.type_qualifiers);
    CHECK(x.size == y.size);
    CHECK(x.exact_size == y.exact_size);
    CHECK(x.stateless == y.stateless);
    CHECK(x.binding.has_value() == y.binding.has_value());
    CHECK(x.sampler == y.sampler);
    CHECK(x.image_type == y.image_type);
    CHECK(contents(x.patches) == contents(y.patches));
    if (same_places) {
      CHECK(x.binding == y.binding);
      CHECK(x.patches == y.patches);
    }
  }
  CHECK(contents(a.implicit) == contents(b.implicit));
  if (same_places) {
    CHECK(a.implicit == b.implicit);
    CHECK(a.cross_thread_bytes == b.cross_thread_bytes);
    if (a.unsupported.empty()) CHECK((a.code == b.code));
  }
}

}  // namespace

TEST_CASE("both containers of every compiled kernel mean the same") {
  std::size_t kernels = 0, with_equal_code = 0;
  for (const std::string& stem : binaries::pairs()) {
    if (stem.find("/pvc") != std::string::npos) continue;
    CAPTURE(stem);
    const Program patch = load(binaries::read(stem + ".patch.bin"));
    const Program zebin = load(binaries::read(stem + ".zebin.bin"));
    CHECK(patch.container == Container::PatchTokensElf);
    CHECK(zebin.container == Container::Zebin);
    CHECK(patch.family == zebin.family);
    CHECK(patch.pointer_bytes == zebin.pointer_bytes);
    REQUIRE(patch.kernels.size() == zebin.kernels.size());
    for (const Kernel& kernel : patch.kernels) {
      const Kernel* other = zebin.find(kernel.name);
      REQUIRE(other != nullptr);
      check_same_kernel(kernel, *other);
      ++kernels;
      with_equal_code += kernel.code == other->code;
    }
    CHECK(patch.segment(Segment::Globals).bytes.size() == zebin.segment(Segment::Globals).bytes.size());
  }
  CHECK(kernels >= 90);
  CHECK(with_equal_code >= 100);
}

TEST_CASE("saxpy as ocloc compiled it") {
  const Program program = load(binaries::corpus("saxpy.patch"));
  CHECK(program.family == gen::Family::Gen9);
  REQUIRE(program.kernels.size() == 1);
  const Kernel& k = program.kernels[0];
  CHECK(describe_arguments(k) == "a: float, x: global const float*, y: global float*, n: int");
  CHECK(k.code.size() == 408);
  CHECK(k.simd_size == 32);
  CHECK(k.grf_count == 128);
  CHECK(k.per_thread_bytes == 192);
  CHECK(k.cross_thread_bytes == 96);
  CHECK(k.arguments[0].kind == ArgumentKind::Value);
  CHECK(k.arguments[0].patches == std::vector<Patch>{{PayloadItem::Value, 48, 4, 0}});
  CHECK(k.arguments[1].binding == 0);
  CHECK(k.arguments[2].binding == 1);
  CHECK_FALSE(k.arguments[1].stateless);
  CHECK(k.arguments[1].patches ==
        std::vector<Patch>{{PayloadItem::Pointer, 32, 8, 0}, {PayloadItem::BufferOffset, 56, 4, 0}});
  CHECK(k.implicit.size() == 9);
  CHECK(program.find("saxpy") == &k);
  CHECK(program.find("daxpy") == nullptr);

  const Program a64 = load(binaries::corpus("saxpy_a64.patch"));
  CHECK(a64.kernels[0].arguments[1].stateless);
}

TEST_CASE("resources of kernels that use them") {
  const Program arguments = load(binaries::own("arguments.zebin"));
  const Kernel* locals = arguments.find("locals");
  REQUIRE(locals != nullptr);
  CHECK(locals->slm_bytes == 256);
  CHECK(locals->barrier_count == 1);
  CHECK(locals->arguments[1].kind == ArgumentKind::LocalPointer);
  CHECK(locals->arguments[1].patches == std::vector<Patch>{{PayloadItem::LocalOffset, 32, 8, 4}});
  REQUIRE(locals->relocations.size() == 2);
  CHECK(locals->relocations[0].kind == Relocation::Kind::AddressLow32);
  CHECK(locals->relocations[1].kind == Relocation::Kind::AddressHigh32);
  CHECK(locals->relocations[0].segment == Segment::Constants);

  const Kernel* images = arguments.find("images");
  REQUIRE(images != nullptr);
  CHECK(images->arguments[0].kind == ArgumentKind::Image);
  CHECK(image_types[images->arguments[3].image_type].name == "image_3d");
  CHECK(images->arguments[1].access == AccessQualifier::WriteOnly);
  CHECK(images->arguments[2].kind == ArgumentKind::Sampler);
  CHECK(images->arguments[2].sampler == 0);
  REQUIRE(images->samplers.size() == 3);
  CHECK(images->samplers[0] == SamplerState{});
  CHECK(images->samplers[1] != images->samplers[2]);

  CHECK(arguments.find("required")->required_local_size == Size3{8, 4, 2});
  CHECK(arguments.find("prints")->relocations[0].segment == Segment::Strings);
  CHECK(arguments.segment(Segment::Strings).bytes.size() == 6);
  const Program tokens = load(binaries::own("arguments.patch"));
  CHECK(tokens.find("prints")->printf_strings == std::vector<std::string>{"x %d\n"});
  CHECK(tokens.find("prints")->implicit.back().item != PayloadItem::Value);

  for (const char* container : {"layouts.patch", "layouts.zebin"}) {
    const Program layouts = load(binaries::own(container));
    const Kernel* nolocal = layouts.find("nolocal");
    CHECK(nolocal->local_ids.rows() == 0);
    CHECK(nolocal->per_thread_bytes == 32);  // the code reads its argument from r3
    CHECK(layouts.find("big")->scratch_bytes == 2 * 1024 * 1024);
    CHECK(layouts.find("order")->simd_size == 8);
    CHECK(layouts.find("order")->per_thread_bytes == 96);
    const Argument& structure = layouts.find("structure")->arguments[0];
    CHECK(structure.type_name == "struct S");
    CHECK(structure.size == 32);
    CHECK(structure.patches.size() == 3);
    CHECK(layouts.find("structure")->arguments[2].size == 1);
    CHECK(layouts.find("unused")->arguments.size() == 4);
  }
}

TEST_CASE("program scope data and its relocations") {
  const Program tokens = load(binaries::corpus("globals.patch"));
  const Program zebin = load(binaries::corpus("globals.zebin"));
  for (const Program* p : {&tokens, &zebin}) {
    CHECK(p->segment(Segment::Constants).bytes.size() == 24);
    CHECK(p->segment(Segment::Globals).bytes.size() == 32);
    CHECK(p->segment(Segment::Globals).bytes == tokens.segment(Segment::Globals).bytes);
    REQUIRE(p->segment(Segment::Constants).relocations.size() == 1);
    CHECK(p->segment(Segment::Constants).relocations[0] ==
          Relocation{Relocation::Kind::Address64, Segment::Globals, 16, 8});
    CHECK(p->kernels.size() == 1);
  }
  CHECK(tokens.kernels[0].surfaces ==
        std::vector<ImplicitSurface>{{PayloadItem::ConstantBase, 2}, {PayloadItem::GlobalBase, 3}});
  CHECK(zebin.kernels[0].relocations.size() == 4);
  REQUIRE(zebin.symbols.size() == 3);
  CHECK(zebin.symbols[2].name == "state");
  CHECK(zebin.symbols[2].size == 32);
}

TEST_CASE("a kernel that cannot run does not keep its neighbours from running") {
  for (const char* container : {"external.patch", "external.zebin"}) {
    const Program program = load(binaries::own(container));
    REQUIRE(program.kernels.size() == 2);
    CHECK_THAT(program.find("external")->unsupported, Contains("helper"));
    CHECK(program.find("alone")->unsupported.empty());
  }
}

TEST_CASE("bare patch tokens are the device binary section of the ELF wrapper") {
  const auto wrapped = binaries::corpus("saxpy.patch");
  const std::string_view text(reinterpret_cast<const char*>(wrapped.data()), wrapped.size());
  const std::size_t at = text.find("CTNI");
  REQUIRE(at != std::string_view::npos);
  const Program program = load({wrapped.begin() + static_cast<std::ptrdiff_t>(at), wrapped.end()});
  CHECK(program.container == Container::PatchTokens);
  CHECK(program.kernels[0].code == load(wrapped).kernels[0].code);
}

TEST_CASE("families come from the binary") {
  for (const char* container : {".patch", ".zebin"}) {
    CHECK(load(binaries::own(std::string("bdw") + container)).family == gen::Family::Gen8);
    CHECK(load(binaries::own(std::string("skl") + container)).family == gen::Family::Gen9);
    const Program ice_lake = load(binaries::own(std::string("icllp") + container));
    CHECK(ice_lake.family == gen::Family::Gen11);
    REQUIRE(ice_lake.kernels.size() == 1);
    CHECK(ice_lake.kernels[0].unsupported == "");
    CHECK_THAT(error_of(binaries::own(std::string("pvc") + container)),
               Contains("XeHPC") && Contains("Gen9"));
  }
}

TEST_CASE("what is no GPU binary is named") {
  CHECK_THAT(error_of(""), Contains("found nothing"));
  CHECK_THAT(error_of("__kernel void k() {}\n"), Contains("found text"));
  CHECK_THAT(error_of(std::string_view("\x03\x02\x23\x07\0\0\1\0", 8)), Contains("SPIR-V"));
  CHECK_THAT(error_of("BC\xc0\xde"), Contains("LLVM bitcode"));
  CHECK_THAT(error_of("!<arch>\nk.bin"), Contains("archive"));
  CHECK_THAT(error_of(std::string_view("\0\1\2\3\4", 5)), Contains("5 bytes that begin with 00 01 02 03"));
  CHECK_THAT(error_of("CTNI"), Contains("header has 28 bytes"));
  CHECK_THAT(error_of("\x7f"
                      "ELF"),
             Contains("ELF64 header has 64 bytes"));
  CHECK_THAT(error_of(binaries::read("/proc/self/exe")), Contains("machine 62"));

  auto zebin = binaries::corpus("saxpy.zebin");
  zebin[18] = std::byte{62};
  CHECK_THAT(error_of(zebin), Contains("machine 62") && Contains("205"));
  auto elf32 = binaries::corpus("saxpy.zebin");
  elf32[4] = std::byte{1};
  CHECK_THAT(error_of(elf32), Contains("class 1"));

  auto tokens = binaries::corpus("saxpy.patch");
  const std::string_view text(reinterpret_cast<const char*>(tokens.data()), tokens.size());
  const std::size_t at = text.find("CTNI");
  auto old = tokens;
  old[at + 4] = std::byte{7};
  CHECK_THAT(error_of(old), Contains("version"));
  auto gen12 = tokens;
  gen12[at + 8] = std::byte{17};
  CHECK_THAT(error_of(gen12), Contains("Gen12") && Contains("Gen9"));
  auto unknown = tokens;
  unknown[at + 8] = std::byte{99};
  CHECK_THAT(error_of(unknown), Contains("unknown GPU core 99"));
  // Changes the section type of the device binary, so that only SPIR-V is left.
  auto spirv_only = tokens;
  for (std::size_t i = 0x40; i + 4 < 0x140; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, &spirv_only[i], 4);
    if (word == 0xff000005) spirv_only[i] = std::byte{0x99};
  }
  CHECK_THAT(error_of(spirv_only), Contains("SPIR-V only"));
}
