// Figures 1 to 5 on both engines: CPL, enable, range, bitmap halves, page faults, VMX MSR bitmap, missing and
// refusing registers, order of checks, runs (Figures 6 to 9: figures_test.cpp). Expectations are written from
// the document and the manual, not taken from the machine.
#include <catch2/catch.hpp>
#include <vector>

#include "frontend/ir/parser.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"
#include "frontend/x86/encoder.hpp"
#include "frontend/x86/lower.hpp"
#include "runtime/user_msr/machine.hpp"

using namespace eum;
using namespace eum::rt;
using x86::Form;
using x86::Instruction;
using x86::Vector;
using Kind = Outcome::Kind;

namespace {

constexpr std::uint64_t bitmap_base = 0xffff800000042000;
constexpr std::uint64_t rip = 0x401000;

/// The accesses that a handler received.
struct Seen {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> writes;
  std::vector<std::uint32_t> reads;
  bool refuse = false;
};

/// A machine with an all-zero bitmap page and a few registers.
struct Fixture {
  explicit Fixture(jit::EngineKind engine) {
    Result<std::unique_ptr<Machine>> made = Machine::create({.engine = engine, .has_apx = true});
    REQUIRE(made);
    machine = *std::move(made);
    REQUIRE(machine->memory().map(bitmap_base, page, {.present = true, .user = false, .writable = true}));
    REQUIRE(machine->set_user_msr_ctl(bitmap_base | 1));
    add(0x10, MsrSource::Value, 0x1111222233334444);
    add(0x1234, MsrSource::Counter, 0);
    add(0x3fff, MsrSource::Handler, 0);
    add(0x20, MsrSource::Value, 7, 0xff00);
    add(0x2345, MsrSource::Value, 9);
    add(0xc0000080, MsrSource::Value, 0xd01);
    machine->set_rip(rip);
    for (unsigned reg = 0; reg < x86::gpr_count; ++reg) machine->set_gpr(reg, 0xabcd000000000000 + reg);
  }
  void add(std::uint32_t address, MsrSource source, std::uint64_t value, std::uint64_t reserved = 0) {
    MsrEntry entry;
    entry.address = address;
    entry.name = fmt::format("m{:x}", address);
    entry.source = source;
    entry.value = value;
    entry.reserved = reserved;
    MsrHandlers handlers;
    handlers.context = &seen;
    handlers.read = [](void* context, std::uint32_t at, std::uint64_t* result) {
      static_cast<Seen*>(context)->reads.push_back(at);
      *result = 0x5555;
      return !static_cast<Seen*>(context)->refuse;
    };
    handlers.write = [](void* context, std::uint32_t at, std::uint64_t data) {
      static_cast<Seen*>(context)->writes.push_back({at, data});
      return !static_cast<Seen*>(context)->refuse;
    };
    REQUIRE(machine->msrs().add(entry, handlers));
  }
  void allow(std::uint32_t msr, bool read, bool write) {
    auto set = [&](std::size_t byte, bool on) {
      auto bit = static_cast<std::byte>(1u << (msr % 8));
      page[byte] = on ? page[byte] | bit : page[byte] & ~bit;
    };
    set(msr / 8, read);
    set(2048 + msr / 8, write);
  }
  Outcome step(const Instruction& instruction) { return machine->step(x86::encode(instruction).view()); }
  std::vector<std::uint64_t> registers() const {
    std::vector<std::uint64_t> all{machine->rip(), machine->user_msr_ctl()};
    for (unsigned reg = 0; reg < x86::gpr_count; ++reg) all.push_back(machine->gpr(reg));
    return all;
  }
  /// Executes, and checks that a fault changes nothing and that success advances RIP by the length.
  Outcome check(const Instruction& instruction) {
    std::vector<std::uint64_t> before = registers();
    Outcome outcome = step(instruction);
    if (outcome.kind == Kind::Done) {
      CHECK(machine->rip() == before[0] + x86::encode(instruction).length);
      machine->set_rip(before[0]);
      if (!instruction.is_read()) CHECK(registers() == before);
    } else {
      CHECK(registers() == before);
    }
    return outcome;
  }
  void expect_exception(const Instruction& instruction, Vector vector, std::optional<std::uint32_t> code) {
    Outcome outcome = check(instruction);
    INFO(outcome.text());
    CHECK(outcome.kind == Kind::Exception);
    CHECK(outcome.vector == vector);
    CHECK(outcome.error_code == code);
  }
  void expect_ud(const Instruction& i) { expect_exception(i, Vector::UD, std::nullopt); }
  void expect_gp(const Instruction& i) { expect_exception(i, Vector::GP, 0); }

  alignas(4096) std::array<std::byte, 4096> page{};
  Seen seen;
  std::unique_ptr<Machine> machine;
};

constexpr std::uint8_t rcx = 1, rdx = 2, r9 = 9, r14 = 14;

/// Both forms of an access to `msr` with data register r14; the register form takes the address from r9,
/// whose high half holds garbage, which is ignored.
std::vector<Instruction> both_forms(Fixture& f, bool is_read, std::uint32_t msr) {
  f.machine->set_gpr(r9, 0xdeadbeef00000000 | msr);
  return {{is_read ? Form::UrdmsrReg : Form::UwrmsrReg, r14, r9, 0},
          {is_read ? Form::UrdmsrImm : Form::UwrmsrImm, r14, 0, msr}};
}

jit::EngineKind engine_of(int i) { return i == 0 ? jit::EngineKind::reference : jit::EngineKind::avx2; }

}  // namespace

TEST_CASE("Figures 1 and 3: an access that all checks allow is done, at any CPL") {
  Fixture f(engine_of(GENERATE(0, 1)));
  int cpl = GENERATE(0, 1, 2, 3);
  REQUIRE(f.machine->set_cpl(static_cast<unsigned>(cpl)));
  f.allow(0x10, true, true);
  for (const Instruction& i : both_forms(f, true, 0x10)) {
    f.machine->set_gpr(r14, 1);
    CHECK(f.check(i).kind == Kind::Done);
    CHECK(f.machine->gpr(r14) == 0x1111222233334444);
  }
  std::uint64_t value = 77;
  for (const Instruction& i : both_forms(f, false, 0x10)) {
    f.machine->set_gpr(r14, ++value);
    CHECK(f.check(i).kind == Kind::Done);
    CHECK(f.machine->msrs().slot(f.machine->msrs().find(0x10)).value == value);
  }
}

TEST_CASE("Figures 1 and 3: disabled is #UD, before anything else is looked at") {
  Fixture f(engine_of(GENERATE(0, 1)));
  REQUIRE(f.machine->set_user_msr_ctl(bitmap_base));
  f.machine->vmx().in_guest = GENERATE(false, true);
  REQUIRE(f.machine->set_cpl(GENERATE(0u, 3u)));
  f.allow(0x3fff, true, true);
  for (std::uint32_t msr : {0x3fffu, 0x4000u, 0xffffffffu})
    for (bool is_read : {true, false})
      for (const Instruction& i : both_forms(f, is_read, msr)) f.expect_ud(i);
  CHECK(f.seen.reads.empty());
  CHECK(f.seen.writes.empty());
}

TEST_CASE("Figures 2 and 4: not enumerated is #UD") {
  Result<std::unique_ptr<Machine>> made =
      Machine::create({.engine = engine_of(GENERATE(0, 1)), .has_user_msr = false, .has_msr_imm = false});
  REQUIRE(made);
  Machine& machine = **made;
  REQUIRE(machine.set_user_msr_ctl(bitmap_base | 1));
  REQUIRE(machine.set_cpl(0));
  CHECK(machine.cpuid(7, 1).edx == 0);
  CHECK(machine.cpuid(7, 1).ecx == 0);
  for (std::size_t form = 0; form < x86::form_count; ++form) {
    Outcome outcome = machine.step(x86::encode({static_cast<Form>(form), 0, 1, 0x10}).view());
    CHECK(outcome.kind == Kind::Exception);
    CHECK(outcome.vector == Vector::UD);
  }
}

TEST_CASE("Figures 2 and 4: CPUID leaf 7 subleaf 1 enumerates the features") {
  Fixture f(jit::EngineKind::reference);
  CHECK(f.machine->cpuid(7, 1).edx == (1u << 15 | 1u << 21));
  CHECK(f.machine->cpuid(7, 1).ecx == 1u << 5);
  CHECK(f.machine->cpuid(7, 0).eax == 1);
  CHECK(f.machine->cpuid(1, 0).edx == 0);
}

TEST_CASE("Figure 5, range: 3FFFH is the last address; beyond it #GP(0), whatever lies behind the bitmap") {
  Fixture f(engine_of(GENERATE(0, 1)));
  f.page.fill(std::byte{0xff});
  for (bool is_read : {true, false}) {
    for (const Instruction& i : both_forms(f, is_read, 0x3fff)) CHECK(f.check(i).kind == Kind::Done);
    for (std::uint32_t msr : {0x4000u, 0x4010u, 0x10000u, 0x80000010u, 0xc0000080u, 0xffffffffu})
      for (const Instruction& i : both_forms(f, is_read, msr)) f.expect_gp(i);
  }
  CHECK(f.seen.reads.size() == 2);
  CHECK(f.seen.writes.size() == 2);
}

TEST_CASE("Figure 5: the range check comes before the bitmap is read") {
  Fixture f(engine_of(GENERATE(0, 1)));
  REQUIRE(
      f.machine->memory().protect(bitmap_base, 4096, {.present = false, .user = false, .writable = true}));
  for (bool is_read : {true, false})
    for (const Instruction& i : both_forms(f, is_read, 0x4000)) f.expect_gp(i);
}

TEST_CASE(
    "Figure 5: a read needs the bit of the lower half, a write that of the upper; each bit is its own") {
  Fixture f(engine_of(GENERATE(0, 1)));
  for (bool read : {false, true})
    for (bool write : {false, true}) {
      f.page.fill(std::byte{0});
      f.allow(0x3fff, read, write);
      f.seen = {};
      for (bool is_read : {true, false})
        for (const Instruction& i : both_forms(f, is_read, 0x3fff)) {
          if (is_read ? read : write)
            CHECK(f.check(i).kind == Kind::Done);
          else
            f.expect_gp(i);
        }
      CHECK(f.seen.reads.size() == (read ? 2 : 0));
      CHECK(f.seen.writes.size() == (write ? 2 : 0));
    }
  // All bits except one.
  f.page.fill(std::byte{0xff});
  f.allow(0x3fff, false, false);
  f.seen = {};
  for (bool is_read : {true, false})
    for (const Instruction& i : both_forms(f, is_read, 0x3fff)) f.expect_gp(i);
  CHECK(f.seen.reads.empty());
  CHECK(f.seen.writes.empty());
}

TEST_CASE("Figure 5: every bit of the bitmap guards its own MSR and no other") {
  Fixture f(jit::EngineKind::reference);
  for (std::uint32_t msr = 0; msr < 0x4000; msr += 37) {
    f.page.fill(std::byte{0});
    f.allow(msr, true, false);
    f.machine->set_gpr(r9, msr);
    Outcome outcome = f.step({Form::UrdmsrReg, r14, r9, 0});
    bool exists = f.machine->msrs().find(msr) != MsrFile::no_slot;
    CHECK((outcome.kind == Kind::Done) == exists);
    std::uint32_t neighbour = msr ^ 1;
    f.machine->set_gpr(r9, neighbour);
    CHECK(f.step({Form::UrdmsrReg, r14, r9, 0}).vector == Vector::GP);
  }
}

TEST_CASE("Figures 1 and 3: a register that does not exist is #GP(0) after the bitmap allowed it") {
  Fixture f(engine_of(GENERATE(0, 1)));
  f.allow(0x777, true, true);
  for (bool is_read : {true, false})
    for (const Instruction& i : both_forms(f, is_read, 0x777)) f.expect_gp(i);
}

TEST_CASE("what an immediate names is looked up again when a register was added") {
  Fixture f(engine_of(GENERATE(0, 1)));
  f.allow(0x777, true, true);
  f.expect_gp({Form::UrdmsrImm, r14, 0, 0x777});
  f.add(0x777, MsrSource::Value, 42);
  CHECK(f.check({Form::UrdmsrImm, r14, 0, 0x777}).kind == Kind::Done);
  CHECK(f.machine->gpr(r14) == 42);
}

TEST_CASE("reserved bits, read-only and write-only registers, and a handler that refuses: #GP(0)") {
  Fixture f(engine_of(GENERATE(0, 1)));
  f.page.fill(std::byte{0xff});
  MsrSlot& slot = f.machine->msrs().slot(f.machine->msrs().find(0x20));
  for (const Instruction& i : both_forms(f, false, 0x20)) {
    f.machine->set_gpr(r14, 0x100);
    f.expect_gp(i);
    CHECK(slot.value == 7);
    f.machine->set_gpr(r14, 0xff00000000000055);
    CHECK(f.check(i).kind == Kind::Done);
    CHECK(slot.value == 0xff00000000000055);
    slot.value = 7;
  }
  slot.writable = false;
  f.machine->set_gpr(r14, 1);
  for (const Instruction& i : both_forms(f, false, 0x20)) f.expect_gp(i);
  slot.readable = false;
  for (const Instruction& i : both_forms(f, true, 0x20)) f.expect_gp(i);
  f.seen.refuse = true;
  for (bool is_read : {true, false})
    for (const Instruction& i : both_forms(f, is_read, 0x3fff)) f.expect_gp(i);
}

TEST_CASE("Figure 5: the bitmap is read as a supervisor access: page faults, their code and CR2") {
  Fixture f(engine_of(GENERATE(0, 1)));
  unsigned cpl = GENERATE(0u, 3u);
  REQUIRE(f.machine->set_cpl(cpl));
  f.page.fill(std::byte{0xff});
  auto check_pf = [&](bool is_read, std::uint32_t code) {
    for (const Instruction& i : both_forms(f, is_read, 0x1234)) {
      f.expect_exception(i, Vector::PF, code);
      CHECK(f.step(i).cr2 == bitmap_base + 0x1234 / 8 + (is_read ? 0 : 2048));
    }
  };
  // A supervisor page is accessible whatever the CPL.
  CHECK(f.check({Form::UrdmsrImm, r14, 0, 0x10}).kind == Kind::Done);
  // Not present: code 0 (U/S is clear, since it is not a user access).
  REQUIRE(
      f.machine->memory().protect(bitmap_base, 4096, {.present = false, .user = false, .writable = true}));
  check_pf(true, 0);
  check_pf(false, 0);
  // A user page: allowed without SMAP, a protection violation with it.
  REQUIRE(f.machine->memory().protect(bitmap_base, 4096, {.present = true, .user = true, .writable = false}));
  f.machine->set_smap(true);
  check_pf(true, 1);
  check_pf(false, 1);
  f.machine->set_smap(false);
  CHECK(f.check({Form::UrdmsrImm, r14, 0, 0x10}).kind == Kind::Done);
  // No memory mapped at all.
  REQUIRE(f.machine->memory().unmap(bitmap_base));
  check_pf(true, 0);
  CHECK(f.seen.reads.empty());
}

TEST_CASE("guest: the VMX MSR bitmap is asked after the user bitmap and before the register") {
  Fixture f(engine_of(GENERATE(0, 1)));
  VmxControls& vmx = f.machine->vmx();
  vmx.in_guest = true;
  f.page.fill(std::byte{0xff});
  auto expect_exit = [&](const Instruction& i, std::uint32_t reason, std::uint64_t qualification) {
    Outcome outcome = f.check(i);
    INFO(outcome.text());
    CHECK(outcome.kind == Kind::VmExit);
    CHECK(outcome.exit_reason == reason);
    CHECK(outcome.exit_qualification == qualification);
  };
  // With the control 0 each access exits, even to a register that does not exist.
  for (std::uint32_t msr : {0x10u, 0x777u, 0x3fffu}) {
    for (const Instruction& i : both_forms(f, true, msr)) expect_exit(i, 80, msr);
    for (const Instruction& i : both_forms(f, false, msr)) expect_exit(i, 81, msr);
  }
  CHECK(f.seen.reads.empty());
  CHECK(f.seen.writes.empty());
  // A clear user bit, a fault of the bitmap and the range check take precedence.
  f.allow(0x10, false, false);
  for (bool is_read : {true, false})
    for (const Instruction& i : both_forms(f, is_read, 0x10)) f.expect_gp(i);
  for (const Instruction& i : both_forms(f, true, 0x4000)) f.expect_gp(i);
  f.page.fill(std::byte{0xff});

  // Bitmaps in use, all bits 0: no exit up to 1FFFH, always above.
  vmx.use_msr_bitmaps = true;
  for (bool is_read : {true, false}) {
    for (const Instruction& i : both_forms(f, is_read, 0x10)) CHECK(f.check(i).kind == Kind::Done);
    for (const Instruction& i : both_forms(f, is_read, 0x777)) f.expect_gp(i);
    for (std::uint32_t msr : {0x2000u, 0x2345u, 0x3fffu})
      for (const Instruction& i : both_forms(f, is_read, msr)) expect_exit(i, is_read ? 80 : 81, msr);
  }
  // One bit: for reads in the first quarter, for writes in the third.
  for (bool is_read : {true, false}) {
    vmx.msr_bitmap.fill(0);
    vmx.msr_bitmap[(is_read ? 0 : 2048) + 0x1234 / 8] = 1 << (0x1234 % 8);
    for (bool access : {true, false})
      for (const Instruction& i : both_forms(f, access, 0x1234)) {
        if (access == is_read)
          expect_exit(i, access ? 80 : 81, 0x1234);
        else
          CHECK(f.check(i).kind == Kind::Done);
      }
  }
  vmx.msr_bitmap.fill(0);
  for (const Instruction& i : both_forms(f, true, 0x1235)) f.expect_gp(i);
}

TEST_CASE("RDMSR and WRMSRNS with an immediate: CPL 0 only, no user bitmap, VMX bitmap of both ranges") {
  Fixture f(engine_of(GENERATE(0, 1)));
  REQUIRE(f.machine->set_user_msr_ctl(0));
  Instruction read{Form::RdmsrImm, rdx, 0, 0xc0000080}, write{Form::WrmsrnsImm, rcx, 0, 0xc0000080};
  for (unsigned cpl : {1u, 2u, 3u}) {
    REQUIRE(f.machine->set_cpl(cpl));
    f.expect_gp(read);
    f.expect_gp(write);
  }
  REQUIRE(f.machine->set_cpl(0));
  CHECK(f.check(read).kind == Kind::Done);
  CHECK(f.machine->gpr(rdx) == 0xd01);
  CHECK(f.check(write).kind == Kind::Done);
  CHECK(f.check(read).kind == Kind::Done);
  CHECK(f.machine->gpr(rdx) == f.machine->gpr(rcx));
  read.msr = 0xdead;
  f.expect_gp(read);

  VmxControls& vmx = f.machine->vmx();
  vmx.in_guest = true;
  CHECK(f.check(read).exit_reason == 84);
  CHECK(f.check(write).exit_reason == 85);
  vmx.use_msr_bitmaps = true;
  CHECK(f.check(read).exit_qualification == 0xdead);  // outside both ranges
  CHECK(f.check(write).kind == Kind::Done);
  vmx.msr_bitmap[3072 + 0x80 / 8] = 1;
  CHECK(f.check(write).exit_reason == 85);
  CHECK(f.check(write).exit_qualification == 0xc0000080);
  read.msr = 0xc0000080;
  CHECK(f.check(read).kind == Kind::Done);
  vmx.msr_bitmap[1024 + 0x80 / 8] = 1;
  CHECK(f.check(read).exit_reason == 84);
}

TEST_CASE("IA32_USER_MSR_CTL: what a write must hold, who may write it, and that it acts at once") {
  Fixture f(engine_of(GENERATE(0, 1)));
  CHECK_FALSE(f.machine->set_user_msr_ctl(2));
  CHECK_FALSE(f.machine->set_user_msr_ctl(0x0000800000000001));
  REQUIRE(f.machine->set_user_msr_ctl(bitmap_base | 1));
  f.page.fill(std::byte{0xff});
  // Readable by URDMSR, never writable by UWRMSR.
  for (const Instruction& i : both_forms(f, true, 0x1c)) {
    CHECK(f.check(i).kind == Kind::Done);
    CHECK(f.machine->gpr(r14) == (bitmap_base | 1));
  }
  for (const Instruction& i : both_forms(f, false, 0x1c)) f.expect_gp(i);
  REQUIRE(f.machine->set_cpl(0));
  Instruction write{Form::WrmsrnsImm, r14, 0, 0x1c};
  for (std::uint64_t bad : {std::uint64_t{0xfff}, bitmap_base | 2, std::uint64_t{1} << 63}) {
    f.machine->set_gpr(r14, bad);
    f.expect_gp(write);
  }
  // If an instruction of a run disables the feature, the next one raises #UD.
  f.machine->set_gpr(r14, bitmap_base);
  std::vector<std::uint8_t> bytes;
  for (const Instruction& i :
       {Instruction{Form::UrdmsrImm, rdx, 0, 0x10}, write, Instruction{Form::UrdmsrImm, rcx, 0, 0x10}}) {
    x86::Encoded e = x86::encode(i);
    bytes.insert(bytes.end(), e.view().begin(), e.view().end());
  }
  std::uint64_t old_rcx = f.machine->gpr(rcx);
  Outcome outcome = f.machine->run(bytes);
  CHECK(outcome.kind == Kind::Exception);
  CHECK(outcome.vector == Vector::UD);
  CHECK(outcome.completed == 2);
  CHECK(f.machine->rip() == rip + 18);
  CHECK(f.machine->gpr(rdx) == 0x1111222233334444);
  CHECK(f.machine->gpr(rcx) == old_rcx);
  CHECK(f.machine->user_msr_ctl() == bitmap_base);
}

TEST_CASE("runs: in order, each side effect done, a fault leaves what came before it") {
  Fixture f(engine_of(GENERATE(0, 1)));
  f.page.fill(std::byte{0xff});
  std::vector<std::uint8_t> bytes;
  auto put = [&](const Instruction& i) {
    x86::Encoded e = x86::encode(i);
    bytes.insert(bytes.end(), e.view().begin(), e.view().end());
  };
  // Repeated reads of a counter into the same register: none may be eliminated.
  for (int n = 0; n < 5; ++n) put({Form::UrdmsrImm, rdx, 0, 0x1234});
  put({Form::UwrmsrImm, rdx, 0, 0x3fff});
  put({Form::UrdmsrReg, rcx, rdx, 0});  // its address is the count, 4: no such register
  put({Form::UrdmsrImm, r14, 0, 0x10});
  std::uint64_t old_r14 = f.machine->gpr(r14), old_rcx = f.machine->gpr(rcx);
  Outcome outcome = f.machine->run(bytes);
  CHECK(outcome.kind == Kind::Exception);
  CHECK(outcome.vector == Vector::GP);
  CHECK(outcome.completed == 6);
  CHECK(f.machine->gpr(rdx) == 4);
  CHECK(f.machine->gpr(rcx) == old_rcx);
  CHECK(f.machine->gpr(r14) == old_r14);
  CHECK(f.machine->rip() == rip + 6 * 9);
  CHECK(f.seen.writes == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0x3fff, 4}});
  CHECK(f.machine->msrs().slot(f.machine->msrs().find(0x1234)).value == 5);
  // Any other instruction ends a run.
  bytes.resize(2 * 9);
  bytes.push_back(0x90);
  f.machine->set_rip(rip);
  outcome = f.machine->run(bytes);
  CHECK(outcome.kind == Kind::Done);
  CHECK(outcome.completed == 2);
  CHECK(f.machine->rip() == rip + 18);
}

TEST_CASE("bytes that are no instruction of ours") {
  Fixture f(engine_of(GENERATE(0, 1)));
  std::vector<std::uint64_t> before = f.registers();
  CHECK(f.machine->step(std::vector<std::uint8_t>{0x90}).kind == Kind::Foreign);
  CHECK(f.machine->step(std::vector<std::uint8_t>{0xf2, 0x0f}).kind == Kind::Truncated);
  CHECK(f.machine->step(std::vector<std::uint8_t>{}).kind == Kind::Truncated);
  Outcome outcome = f.machine->step(std::vector<std::uint8_t>{0xf0, 0xf2, 0x0f, 0x38, 0xf8, 0xc0});
  CHECK(outcome.vector == Vector::UD);
  CHECK_FALSE(outcome.error_code);
  outcome = f.machine->step(std::vector<std::uint8_t>(15, 0x66));
  CHECK(outcome.vector == Vector::GP);
  CHECK(outcome.error_code == 0);
  f.machine->set_mode(x86::Mode::Bits32);
  CHECK(f.step({Form::UrdmsrReg, 0, 1, 0}).vector == Vector::UD);
  CHECK(f.registers() == before);
}

TEST_CASE("both engines agree over random states and instructions") {
  std::uint64_t seed = 0x9e3779b97f4a7c15;
  INFO("seed " << seed);
  auto next = [&seed] {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
  };
  Fixture a(jit::EngineKind::reference), b(jit::EngineKind::avx2);
  const std::vector<std::uint32_t> addresses{0x10,   0x1c,   0x20,   0x777,  0x1234,    0x1fff,
                                             0x2000, 0x2345, 0x3fff, 0x4000, 0xc0000080};
  for (int round = 0; round < 1500; ++round) {
    std::uint64_t state[x86::gpr_count], pattern[8];
    for (auto& word : state) word = next() % 3 ? addresses[next() % addresses.size()] | next() << 32 : next();
    for (auto& word : pattern) word = next() | next();
    unsigned cpl = next() % 2 ? 3 : 0;
    bool guest = next() % 3 == 0, use_bitmaps = next() % 4 != 0, enabled = next() % 8 != 0,
         present = next() % 8 != 0;
    std::vector<std::uint8_t> bytes;
    for (std::uint64_t count = 1 + next() % 6; count-- > 0;) {
      Instruction i{static_cast<Form>(next() % x86::form_count), 0, 0, addresses[next() % addresses.size()]};
      const std::size_t registers = i.needs_apx() ? x86::gpr_count : x86::legacy_gpr_count;
      i.data = static_cast<std::uint8_t>(next() % registers);
      i.index = static_cast<std::uint8_t>(next() % registers);
      x86::Encoded e = x86::encode(i);
      bytes.insert(bytes.end(), e.view().begin(), e.view().end());
    }
    Outcome outcomes[2];
    std::vector<std::uint64_t> registers[2];
    Fixture* machines[] = {&a, &b};
    for (int m = 0; m < 2; ++m) {
      Fixture& f = *machines[m];
      for (unsigned r = 0; r < x86::gpr_count; ++r) f.machine->set_gpr(r, state[r]);
      f.machine->set_rip(rip);
      REQUIRE(f.machine->set_cpl(cpl));
      REQUIRE(f.machine->set_user_msr_ctl(bitmap_base | enabled));
      f.machine->vmx().in_guest = guest;
      f.machine->vmx().use_msr_bitmaps = use_bitmaps;
      REQUIRE(f.machine->memory().protect(bitmap_base, 4096,
                                          {.present = present, .user = false, .writable = true}));
      for (std::size_t k = 0; k < 4096; ++k) {
        f.page[k] = static_cast<std::byte>(pattern[k % 8] >> (k / 8 % 8 * 8));
        f.machine->vmx().msr_bitmap[k] =
            static_cast<std::uint8_t>(pattern[(k + 3) % 8] & pattern[k % 5] & pattern[1]);
      }
      outcomes[m] = f.machine->run(bytes);
      registers[m] = f.registers();
    }
    INFO("round " << round << ": " << outcomes[0].text() << " / " << outcomes[1].text());
    REQUIRE(outcomes[0] == outcomes[1]);
    REQUIRE(registers[0] == registers[1]);
    REQUIRE(a.seen.writes == b.seen.writes);
    REQUIRE(a.seen.reads == b.seen.reads);
  }
}

TEST_CASE("lowered functions are well formed, survive their text form, and hold what the immediate decides") {
  x86::LoweringContext context;
  context.find_slot = [](std::uint32_t msr) -> std::optional<std::uint32_t> {
    if (msr == 0x777) return std::nullopt;
    return 5;
  };
  for (bool guest : {false, true})
    for (std::uint8_t cpl : {std::uint8_t{0}, std::uint8_t{3}})
      for (std::size_t form = 0; form < x86::form_count; ++form)
        for (std::uint32_t msr : {0x10u, 0x777u, 0x4000u, 0x1cu, 0xc0000080u}) {
          context.in_guest = guest;
          context.cpl = cpl;
          std::vector<x86::PlacedInst> run{{{static_cast<Form>(form), 3, 4, msr}, 0, 9},
                                           {{Form::UrdmsrImm, 1, 0, 0x11}, 9, 9}};
          ir::Function function = x86::lower(run, context);
          Result<void> verified = ir::verify(function);
          INFO(ir::print(function) << (verified ? "" : verified.error().message));
          REQUIRE(verified);
          Result<ir::Function> again = ir::parse(ir::print(function));
          REQUIRE(again);
          CHECK(ir::print(*again) == ir::print(function));
        }
  // The range check and the bit's position are resolved at translation time.
  std::vector<x86::PlacedInst> run{{{Form::UrdmsrImm, 3, 0, 0x1235}, 0, 9}};
  context.in_guest = true;
  auto lowered = [&](Form form, std::uint32_t msr) {
    run[0].instruction.form = form;
    run[0].instruction.msr = msr;
    return ir::print(x86::lower(run, context));
  };
  auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  std::string immediate = lowered(Form::UrdmsrImm, 0x1235), indirect = lowered(Form::UrdmsrReg, 0);
  for (const char* op : {"cmp_ge", "shr.", "convert."}) {
    CHECK_FALSE(has(immediate, op));
    CHECK(has(indirect, op));
  }
  CHECK(has(immediate, "constant.u64x1 0x246"));  // byte and bit of 1235H, and its slot + 1
  CHECK(has(immediate, "constant.u64x1 0x20"));
  // Callbacks by number: 0x0 load_linear, 0x2 read_msr, 0x3 write_msr (frontend/x86/lower.hpp).
  CHECK(has(immediate, "callback.u64x1 0x2"));
  CHECK_FALSE(has(lowered(Form::UrdmsrImm, 0x4000), "callback.u64x1 0x0"));
  CHECK_FALSE(has(lowered(Form::UrdmsrImm, 0x4000), "callback.u64x1 0x2"));
  CHECK_FALSE(has(lowered(Form::UrdmsrImm, 0x777), "callback.u64x1 0x2"));
  CHECK_FALSE(has(lowered(Form::UwrmsrImm, 0x1c), "callback.u64x1 0x3"));
  CHECK_FALSE(has(lowered(Form::UrdmsrImm, 0x2345), "callback.u64x1 0x2"));  // not in the VMX bitmap: exits
}
