// Trap path and stubs in this process: every operand register and source, comparing all general registers,
// the flags, the red zone and all vector registers before and after.
#include <asmjit/x86.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "frontend/x86/encoder.hpp"
#include "runtime/user_msr/machine.hpp"
#include "runtime/user_msr/native/runner.hpp"

using namespace eum;
using namespace eum::rt::native;
using x86::Form;
using x86::Instruction;

namespace {

constexpr std::uint32_t constant_msr = 0x10, counter_msr = 0x11, tsc_msr = 0x12, value_msr = 0x13,
                        file_msr = 0x14, masked_msr = 0x16;
constexpr std::uint64_t constant_value = 0x123456789abcdef0;

/// The state that an instruction must preserve, except for its destination.
struct Registers {
  std::uint64_t gpr[16];
  std::uint64_t flags;
  std::uint64_t red_zone[16];
  std::uint8_t ymm[16][32];
  std::uint32_t mxcsr;
};

/// The files of an attachment; detaches at the end.
struct Attached {
  explicit Attached(RunnerOptions options = {}) {
    char name[] = "/tmp/eumulate_native_XXXXXX";
    folder = mkdtemp(name);
    std::ofstream(folder + "/value") << "42\n";
    std::ofstream toml(folder + "/msrs.toml");
    toml << "[[msr]]\naddress = 0x10\nread = true\nwrite = false\nvalue = 0x123456789abcdef0\n"
            "[[msr]]\naddress = 0x11\nread = true\nwrite = true\nsource = \"counter\"\n"
            "[[msr]]\naddress = 0x12\nread = true\nwrite = false\nsource = \"tsc\"\n"
            "[[msr]]\naddress = 0x13\nread = true\nwrite = true\nvalue = 5\n"
            "[[msr]]\naddress = 0x14\nread = true\nwrite = true\nsource = \"file:value\"\n"
            "[[msr]]\naddress = 0x16\nread = true\nwrite = true\nvalue = 6\nreserved = "
            "\"0xff00000000000000\"\n";
    toml.close();
    if (!options.trace.empty()) options.trace = folder + "/trace";
    Result<void> status = attach(folder + "/msrs.toml", options);
    INFO((status ? "" : status.error().message));
    REQUIRE(status);
  }
  ~Attached() {
    detach();
    for (const char* file : {"/value", "/msrs.toml", "/trace"}) unlink((folder + file).c_str());
    rmdir(folder.c_str());
  }
  std::string read(const char* name) const {
    std::ifstream file(folder + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string folder;
};

/// A function that loads a Registers, executes the instruction, and stores the registers.
class Probe {
 public:
  explicit Probe(const Instruction& instruction) {
    namespace ax = asmjit::x86;
    asmjit::CodeHolder code;
    code.init(asmjit::Environment::host());
    ax::Assembler a(&code);
    const ax::Gp saved[] = {ax::rbx, ax::rbp, ax::r12, ax::r13, ax::r14, ax::r15};
    for (const ax::Gp& reg : saved) a.push(reg);
    a.mov(ax::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(&out_pointer_)));
    a.mov(ax::ptr(ax::rax), ax::rsi);
    auto in = [](std::size_t offset) { return ax::ptr(ax::rdi, static_cast<int>(offset)); };
    a.ldmxcsr(ax::dword_ptr(ax::rdi, offsetof(Registers, mxcsr)));
    for (unsigned i = 0; i < 16; ++i) a.vmovdqu(ax::ymm(i), in(offsetof(Registers, ymm) + 32 * i));
    a.push(ax::qword_ptr(ax::rdi, offsetof(Registers, flags)));
    a.popfq();
    for (unsigned i = 0; i < 16; ++i) {
      a.mov(ax::rax, in(offsetof(Registers, red_zone) + 8 * i));
      a.mov(ax::ptr(ax::rsp, static_cast<int>(8 * i) - 128), ax::rax);
    }
    for (unsigned reg = 0; reg < 16; ++reg)
      if (reg != 4 && reg != 7) a.mov(ax::gpq(reg), in(8 * reg));
    a.mov(ax::rdi, in(8 * 7));
    site_offset = code.codeSize();
    x86::Encoded encoded = x86::encode(instruction);
    a.embed(encoded.bytes.data(), encoded.length);
    // RAX first, by an absolute store, since it then points to the result. Flags are read before anything
    // here changes them.
    a.embedUInt16(0xa348);
    a.embedUInt64(reinterpret_cast<std::uint64_t>(&rax_));
    a.embedUInt16(0xa148);
    a.embedUInt64(reinterpret_cast<std::uint64_t>(&out_pointer_));
    auto out = [](std::size_t offset) { return ax::ptr(ax::rax, static_cast<int>(offset)); };
    for (unsigned reg = 1; reg < 16; ++reg) a.mov(out(8 * reg), ax::gpq(reg));
    for (unsigned i = 0; i < 16; ++i) {
      a.mov(ax::rcx, ax::ptr(ax::rsp, static_cast<int>(8 * i) - 128));
      a.mov(out(offsetof(Registers, red_zone) + 8 * i), ax::rcx);
    }
    a.pushfq();
    a.pop(ax::rcx);
    a.mov(out(offsetof(Registers, flags)), ax::rcx);
    for (unsigned i = 0; i < 16; ++i) a.vmovdqu(out(offsetof(Registers, ymm) + 32 * i), ax::ymm(i));
    a.stmxcsr(ax::dword_ptr(ax::rax, offsetof(Registers, mxcsr)));
    a.mov(ax::rcx, asmjit::Imm(reinterpret_cast<std::uint64_t>(&default_mxcsr_)));
    a.ldmxcsr(ax::dword_ptr(ax::rcx));
    a.cld();
    a.vzeroupper();
    for (std::size_t i = std::size(saved); i-- > 0;) a.pop(saved[i]);
    a.ret();

    page_ = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page_ != MAP_FAILED);
    code.relocateToBase(reinterpret_cast<std::uint64_t>(page_));
    REQUIRE(code.codeSize() <= page_bytes);
    code.copyFlattenedData(page_, page_bytes);
    mprotect(page_, page_bytes, PROT_READ | PROT_EXEC);
  }
  ~Probe() { munmap(page_, page_bytes); }
  Probe(const Probe&) = delete;

  Registers run(const Registers& in) {
    Registers out{};
    reinterpret_cast<void (*)(const Registers*, Registers*)>(page_)(&in, &out);
    out.gpr[0] = rax_;
    return out;
  }
  bool is_patched() const { return static_cast<const std::uint8_t*>(page_)[site_offset] == 0xe9; }

  std::size_t site_offset = 0;

 private:
  static constexpr std::size_t page_bytes = 4096;
  void* page_ = nullptr;
  Registers* out_pointer_ = nullptr;
  std::uint64_t rax_ = 0;
  std::uint32_t default_mxcsr_ = 0x1f80;
};

std::uint64_t random_word() {
  static std::uint64_t seed = 0x2545f4914f6cdd1d;
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

Registers random_registers() {
  Registers r{};
  for (auto& word : r.gpr) word = random_word();
  for (auto& word : r.red_zone) word = random_word();
  // CF PF AF ZF SF DF OF are random; bit 1 and IF are always set.
  r.flags = (random_word() & 0xcd5) | 0x202;
  for (auto& vector : r.ymm)
    for (auto& byte : vector) byte = static_cast<std::uint8_t>(random_word());
  r.mxcsr = 0x1f80 | static_cast<std::uint32_t>(random_word() & 0x3) << 13;
  return r;
}

/// Checks that everything except the destination and RSP is unchanged.
void require_preserved(const Registers& before, const Registers& after, const Instruction& instruction) {
  for (unsigned reg = 0; reg < 16; ++reg) {
    if (reg == 4 || (instruction.is_read() && reg == instruction.data)) continue;
    INFO("register " << x86::gpr_names[reg]);
    REQUIRE(after.gpr[reg] == before.gpr[reg]);
  }
  constexpr std::uint64_t resume_flag = 0x10000;
  REQUIRE((after.flags & ~resume_flag) == before.flags);
  REQUIRE(std::memcmp(after.red_zone, before.red_zone, sizeof before.red_zone) == 0);
  REQUIRE(std::memcmp(after.ymm, before.ymm, sizeof before.ymm) == 0);
  REQUIRE(after.mxcsr == before.mxcsr);
}

/// Runs the probe through the trap and then patched; `check` examines the destination.
template <class Check>
void probe(const Instruction& instruction, std::uint32_t msr, std::uint64_t data, bool patches, Check check) {
  INFO(x86::info(instruction.form).name << " data " << unsigned{instruction.data} << " index "
                                        << unsigned{instruction.index} << " msr " << msr);
  Probe p(instruction);
  for (int round = 0; round < 3; ++round) {
    Registers in = random_registers();
    if (!instruction.is_read()) in.gpr[instruction.data] = data;
    if (!instruction.is_immediate()) in.gpr[instruction.index] = (random_word() << 32) | msr;
    Registers out = p.run(in);
    REQUIRE(p.is_patched() == patches);
    require_preserved(in, out, instruction);
    check(out.gpr[instruction.data], in.gpr[instruction.data]);
  }
}

}  // namespace

TEST_CASE("trap and stub preserve all that the instruction does not write, for each operand and source") {
  RunnerOptions options;
  int mode = GENERATE(0, 1, 2);  // patched inline; patched with slow paths, traced; trap only
  if (mode == 1) options.trace = "yes";
  if (mode == 2) options.patch = false;
  Attached attached(options);
  bool patches = mode != 2;
  rt::MsrFile& msrs = runner()->msrs;
  auto stored = [&](std::uint32_t msr) -> std::atomic<std::uint64_t>& {
    return msrs.slot(msrs.find(msr)).value;
  };
  for (std::uint8_t data = 0; data < 16; ++data)
    for (std::uint8_t index = 0; index < 16; ++index) {
      if (data == 4 || index == 4) continue;  // RSP as an operand: tests/user_msr/programs/code.c
      bool first_index = index == 0;
      for (Form form : {Form::UrdmsrReg, Form::UrdmsrImm}) {
        if (form == Form::UrdmsrImm && !first_index) continue;
        auto read = [&](std::uint32_t msr, auto check) {
          probe({form, data, form == Form::UrdmsrReg ? index : std::uint8_t{0}, msr}, msr, 0, patches, check);
        };
        read(constant_msr, [](std::uint64_t value, std::uint64_t) { REQUIRE(value == constant_value); });
        std::uint64_t count = stored(counter_msr);
        read(counter_msr, [&](std::uint64_t value, std::uint64_t) { REQUIRE(value == count++); });
        std::uint64_t last = 0;
        read(tsc_msr, [&](std::uint64_t value, std::uint64_t) {
          REQUIRE(value > last);
          last = value;
        });
        stored(value_msr) = 0xfedcba9876543210;
        read(value_msr, [](std::uint64_t value, std::uint64_t) { REQUIRE(value == 0xfedcba9876543210); });
        if (data % 5 == 0) read(file_msr, [](std::uint64_t value, std::uint64_t) { REQUIRE(value == 42); });
      }
      for (Form form : {Form::UwrmsrReg, Form::UwrmsrImm}) {
        if (form == Form::UwrmsrImm && !first_index) continue;
        // If both operands are the same register, the value is the address.
        if (form == Form::UwrmsrReg && data == index) continue;
        auto write = [&](std::uint32_t msr, std::uint64_t word) {
          probe({form, data, form == Form::UwrmsrReg ? index : std::uint8_t{0}, msr}, msr, word, patches,
                [&](std::uint64_t, std::uint64_t) { REQUIRE(stored(msr) == word); });
        };
        write(value_msr, random_word());
        write(masked_msr, random_word() >> 8);
        write(counter_msr, random_word() >> 8);
      }
    }
  if (mode == 1) CHECK(attached.read("/trace").find(" = 0x123456789abcdef0\n") != std::string::npos);
}

TEST_CASE("one register as address and destination, and as address and data") {
  Attached attached;
  for (std::uint8_t reg = 0; reg < 16; ++reg) {
    if (reg == 4) continue;
    probe({Form::UrdmsrReg, reg, reg, 0}, constant_msr, 0, true,
          [](std::uint64_t value, std::uint64_t) { REQUIRE(value == constant_value); });
    Probe p({Form::UwrmsrReg, reg, reg, 0});
    for (int round = 0; round < 3; ++round) {
      Registers in = random_registers();
      in.gpr[reg] = 0xabcd00000000 | value_msr;
      Registers out = p.run(in);
      require_preserved(in, out, {Form::UwrmsrReg, reg, reg, 0});
      CHECK(runner()->msrs.slot(runner()->msrs.find(value_msr)).value == (0xabcd00000000 | value_msr));
    }
  }
}

TEST_CASE("writes to a file source are stored back") {
  Attached attached;
  Probe write({Form::UwrmsrImm, 3, 0, file_msr}), read({Form::UrdmsrImm, 9, 0, file_msr});
  for (std::uint64_t value : {std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{0x1234}}) {
    Registers in = random_registers();
    in.gpr[3] = value;
    write.run(in);
    CHECK(attached.read("/value") == fmt::format("{:#018x}\n", value));
    CHECK(read.run(in).gpr[9] == value);
  }
  // Changed externally.
  std::ofstream(attached.folder + "/value") << "  77 \n";
  CHECK(read.run(random_registers()).gpr[9] == 77);
}

TEST_CASE("a stub of many registers serves each, and falls back for the rest") {
  Attached attached;
  Probe p({Form::UrdmsrReg, 2, 1, 0});
  for (int round = 0; round < 3; ++round) {
    Registers in = random_registers();
    in.gpr[1] = constant_msr;
    CHECK(p.run(in).gpr[2] == constant_value);
    in.gpr[1] = value_msr;
    CHECK(p.run(in).gpr[2] == 5);
    in.gpr[1] = file_msr;
    CHECK(p.run(in).gpr[2] == 42);
    in.gpr[1] = masked_msr;
    CHECK(p.run(in).gpr[2] == 6);
    in.gpr[1] = counter_msr;
    CHECK(p.run(in).gpr[2] == static_cast<std::uint64_t>(round));
    CHECK(p.is_patched());
  }
}

TEST_CASE("stubs have the length that was asked for, with as many cases as fit") {
  std::array<InlineCase, 12> cases;
  for (std::size_t i = 0; i < cases.size(); ++i)
    cases[i] = {static_cast<std::uint32_t>(i * 3), i % 2 ? InlineAccess::Tsc : InlineAccess::Increment,
                ~std::uint64_t{0} - i};
  for (std::uint8_t data = 0; data < 16; ++data)
    for (std::uint8_t index = 0; index < 16; ++index) {
      Instruction instruction{Form::UrdmsrReg, data, index, 0};
      CHECK(can_emit(instruction) == (data != 4 && index != 4));
      StubRequest request;
      request.instruction = instruction;
      request.address = 0x10000;
      request.resume = 0x20000;
      request.cases = cases;
      request.slow_path = &slow_path;
      Stub stub, elsewhere;
      emit_stub(request, stub);
      CHECK(stub.length <= max_stub_bytes);
      request.address = 0x7fff0000;
      emit_stub(request, elsewhere);
      CHECK(elsewhere.length == stub.length);
    }
}

TEST_CASE("the native rules are the machine's: each address, both directions") {
  Attached attached;
  RunnerState& native = *runner();
  auto engine = GENERATE(jit::EngineKind::reference, jit::EngineKind::avx2);
  Result<std::unique_ptr<rt::Machine>> made = rt::Machine::create({.engine = engine});
  REQUIRE(made);
  rt::Machine& machine = **made;
  Result<rt::MsrConfig> config = rt::load_msr_config(attached.folder + "/msrs.toml");
  REQUIRE(config);
  REQUIRE(machine.msrs().add_all(*config));
  alignas(4096) static std::array<std::byte, 4096> page;
  std::memcpy(page.data(), config->bitmap.data(), page.size());
  REQUIRE(machine.memory().map(0x10000, page, {}));
  REQUIRE(machine.set_user_msr_ctl(0x10001));
  for (std::uint32_t msr = 0; msr < 0x4100; ++msr)
    for (bool is_read : {true, false}) {
      Instruction instruction{is_read ? Form::UrdmsrReg : Form::UwrmsrReg, 3, 1, 0};
      machine.set_gpr(1, msr);
      machine.set_gpr(3, 0xff00000000000000 + msr);
      rt::Outcome outcome = machine.step(x86::encode(instruction).view());
      std::uint64_t value = 0xff00000000000000 + msr;
      bool allowed = access_user_msr(native, is_read, msr, value);
      INFO("msr " << msr << " read " << is_read << ": " << outcome.text());
      REQUIRE(allowed == (outcome.kind == rt::Outcome::Kind::Done));
      if (!allowed) REQUIRE(outcome.vector == x86::Vector::GP);
      if (allowed && is_read && msr != tsc_msr) REQUIRE(machine.gpr(3) == value);
    }
}
