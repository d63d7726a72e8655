// What an emulator that embeds the machine needs: APX, VM-exit information, LA57, its own MMU, its registers
// in place, and steps that are fast and never stale.
#include <catch2/catch.hpp>
#include <vector>

#include "frontend/x86/encoder.hpp"
#include "runtime/user_msr/machine.hpp"

using namespace eum;
using namespace eum::rt;
using x86::Form;
using x86::Instruction;
using x86::Vector;
using Kind = Outcome::Kind;

namespace {

constexpr std::uint64_t bitmap_base = 0xffff800000042000;

struct Fixture {
  explicit Fixture(MachineOptions options) {
    Result<std::unique_ptr<Machine>> made = Machine::create(options);
    REQUIRE(made);
    machine = *std::move(made);
    page.fill(std::byte{0xff});
    REQUIRE(machine->memory().map(bitmap_base, page, {}));
    REQUIRE(machine->set_user_msr_ctl(bitmap_base | 1));
    add(0x10, 0x1111222233334444);
    add(0x1234, 9);
  }
  void add(std::uint32_t address, std::uint64_t value) {
    MsrEntry entry;
    entry.address = address;
    entry.name = fmt::format("m{:x}", address);
    entry.value = value;
    REQUIRE(machine->msrs().add(entry));
  }
  Outcome step(const Instruction& instruction) { return machine->step(x86::encode(instruction).view()); }
  std::uint64_t value(std::uint32_t address) {
    return machine->msrs().slot(machine->msrs().find(address)).value;
  }

  alignas(4096) std::array<std::byte, 4096> page{};
  std::unique_ptr<Machine> machine;
};

jit::EngineKind any_engine() { return GENERATE(jit::EngineKind::reference, jit::EngineKind::avx2); }

constexpr Form apx_forms[] = {Form::UrdmsrRegApx, Form::UwrmsrRegApx, Form::UrdmsrImmApx,
                              Form::UwrmsrImmApx, Form::RdmsrImmApx,  Form::WrmsrnsImmApx};

/// An embedder's MMU: records the addresses, and answers as told.
struct Mmu {
  LinearReader::Answer answer = LinearReader::Answer::Done;
  std::uint8_t byte = 0xff;
  std::uint32_t error = 0;
  std::vector<std::uint64_t> addresses;

  LinearReader reader() {
    return {this, [](void* context, std::uint64_t address, std::uint8_t& byte, std::uint32_t& error) {
              auto& self = *static_cast<Mmu*>(context);
              self.addresses.push_back(address);
              byte = self.byte;
              if (self.error != 0) error = self.error;
              return self.answer;
            }};
  }
};

}  // namespace

TEST_CASE("APX forms execute on each of the 32 registers") {
  Fixture f({.engine = any_engine(), .has_apx = true});
  CHECK((f.machine->cpuid(7, 1).edx & 1u << 21) != 0);
  REQUIRE(f.machine->set_cpl(0));
  for (std::uint8_t data = 0; data < 32; ++data) {
    const std::uint8_t index = static_cast<std::uint8_t>((data + 13) % 32);
    for (Form form : apx_forms) {
      INFO("form " << static_cast<int>(form) << " register " << int{data});
      Instruction i{form, data};
      if (i.is_immediate())
        i.msr = 0x1234;
      else
        i.index = index;
      std::vector<std::uint64_t> expected;
      for (unsigned reg = 0; reg < 32; ++reg) {
        f.machine->set_gpr(reg, 0xabcd000000000000 + reg);
        expected.push_back(0xabcd000000000000 + reg);
      }
      if (!i.is_immediate()) f.machine->set_gpr(index, expected[index] = 0x1234);
      const std::uint64_t before = f.value(0x1234), rip = f.machine->rip();
      REQUIRE(f.step(i).kind == Kind::Done);
      if (i.is_read())
        expected[data] = before;
      else
        CHECK(f.value(0x1234) == expected[data]);
      CHECK(f.machine->rip() == rip + x86::encode(i).length);
      for (unsigned reg = 0; reg < 32; ++reg) CHECK(f.machine->gpr(reg) == expected[reg]);
    }
  }
}

TEST_CASE("APX forms are #UD that needs APX on a machine without it, alone and in a run") {
  Fixture f({.engine = any_engine()});
  CHECK((f.machine->cpuid(7, 1).edx & 1u << 21) == 0);
  for (Form form : apx_forms) {
    const Outcome outcome = f.step({form, 17, 0, 0x10});
    CHECK(outcome.kind == Kind::Exception);
    CHECK(outcome.vector == Vector::UD);
    CHECK(outcome.text() == "#UD: needs APX");
  }
  std::vector<std::uint8_t> bytes;
  for (Form form : {Form::UrdmsrImm, Form::UrdmsrImmApx}) {
    const x86::Encoded e = x86::encode({form, 0, 0, 0x10});
    bytes.insert(bytes.end(), e.view().begin(), e.view().end());
  }
  CHECK(f.machine->run(bytes).completed == 1);
  CHECK(f.machine->run(std::span(bytes).subspan(9)).text() == "#UD: needs APX");
}

TEST_CASE("a VM exit tells the instruction's length and, in bits 6:3, the register of its data") {
  Fixture f({.engine = any_engine(), .has_apx = true});
  REQUIRE(f.machine->set_cpl(0));
  f.machine->vmx().in_guest = true;
  for (std::size_t form = 0; form < x86::form_count; ++form)
    for (std::uint8_t data = 0; data < 32; ++data) {
      Instruction i{static_cast<Form>(form), data, 3};
      if (i.is_immediate()) i = {static_cast<Form>(form), data, 0, 0x10};
      if (!x86::exists(i)) continue;
      f.machine->set_gpr(data, 0x10);
      f.machine->set_gpr(3, 0x10);
      const Outcome outcome = f.step(i);
      INFO(outcome.text());
      REQUIRE(outcome.kind == Kind::VmExit);
      CHECK(outcome.exit_qualification == 0x10);
      CHECK(outcome.exit_instruction_information == (data % 16u) << 3);
      CHECK(int{outcome.exit_register} == int{data});
      CHECK(outcome.exit_instruction_length == x86::encode(i).length);
    }
  // The second instruction of a run exits: the VM-exit information is that of this instruction.
  f.machine->vmx().use_msr_bitmaps = true;
  f.machine->vmx().msr_bitmap[0x1234 / 8] = 1 << (0x1234 % 8);
  std::vector<std::uint8_t> bytes;
  for (const Instruction& i :
       {Instruction{Form::UrdmsrImm, 1, 0, 0x10}, Instruction{Form::UrdmsrImmApx, 12, 0, 0x1234}}) {
    const x86::Encoded e = x86::encode(i);
    bytes.insert(bytes.end(), e.view().begin(), e.view().end());
  }
  const Outcome outcome = f.machine->run(bytes);
  CHECK(outcome.kind == Kind::VmExit);
  CHECK(outcome.completed == 1);
  CHECK(outcome.exit_instruction_information == 12u << 3);
  CHECK(outcome.exit_instruction_length == 10);
}

TEST_CASE("canonical addresses have 48 bits, or 57 with LA57; other widths are refused") {
  constexpr std::uint64_t only_57 = 0x00fffffffffff000, only_57_high = 0xff00000000042000,
                          neither = 0x0100000000000000;
  const jit::EngineKind engine = any_engine();
  Fixture narrow({.engine = engine}), wide({.engine = engine, .linear_address_bits = 57});
  CHECK((narrow.machine->cpuid(7, 0).ecx & 1u << 16) == 0);
  CHECK((wide.machine->cpuid(7, 0).ecx & 1u << 16) != 0);
  for (std::uint64_t address : {only_57, only_57_high}) {
    CHECK_FALSE(narrow.machine->set_user_msr_ctl(address));
    CHECK(wide.machine->set_user_msr_ctl(address));
  }
  CHECK_FALSE(narrow.machine->set_user_msr_ctl(neither));
  CHECK_FALSE(wide.machine->set_user_msr_ctl(neither));
  // The address set by the instruction, with a bitmap mapped there.
  for (Fixture* f : {&narrow, &wide}) {
    REQUIRE(f->machine->set_user_msr_ctl(bitmap_base | 1));
    REQUIRE(f->machine->set_cpl(0));
    REQUIRE(f->machine->memory().map(only_57_high, f->page, {}));
    f->machine->set_gpr(1, only_57_high | 1);
    const Outcome outcome = f->step({Form::WrmsrnsImm, 1, 0, 0x1c});
    CHECK((outcome.kind == Kind::Done) == (f == &wide));
    CHECK(f->machine->user_msr_ctl() == ((f == &wide ? only_57_high : bitmap_base) | 1));
    CHECK(f->step({Form::UrdmsrImm, 0, 0, 0x10}).kind == Kind::Done);
  }
  for (unsigned bits : {0u, 47u, 52u, 64u}) CHECK_FALSE(Machine::create({.linear_address_bits = bits}));
}

TEST_CASE("an embedder's MMU reads the bitmap: its byte, its page fault, its stop; and not beside it") {
  Fixture f({.engine = any_engine()});
  f.page.fill(std::byte{0});
  Mmu mmu;
  f.machine->set_linear_reader(mmu.reader());
  const Instruction read{Form::UrdmsrImm, 1, 0, 0x1234}, write{Form::UwrmsrReg, 1, 2, 0};
  f.machine->set_gpr(2, 0x1234);
  CHECK(f.step(read).kind == Kind::Done);
  CHECK(f.machine->gpr(1) == 9);
  CHECK(f.step(write).kind == Kind::Done);
  CHECK(mmu.addresses ==
        std::vector<std::uint64_t>{bitmap_base + 0x1234 / 8, bitmap_base + 2048 + 0x1234 / 8});
  mmu.byte = static_cast<std::uint8_t>(~(1u << 0x1234 % 8));
  CHECK(f.step(read).text() == "#GP(0)");

  const std::uint64_t rip = f.machine->rip();
  mmu.answer = LinearReader::Answer::PageFault;
  for (std::uint32_t code : {0u, 1u, 9u, 0x8001u}) {
    mmu.error = code;
    const Outcome outcome = f.step(write);
    CHECK(outcome.vector == Vector::PF);
    CHECK(outcome.error_code == code);
    CHECK(outcome.cr2 == bitmap_base + 2048 + 0x1234 / 8);
  }
  mmu.answer = LinearReader::Answer::Stop;
  Outcome outcome = f.step(read);
  CHECK(outcome.kind == Kind::Stopped);
  CHECK_FALSE(outcome.error_code);
  CHECK(outcome.cr2 == bitmap_base + 0x1234 / 8);
  CHECK(f.machine->rip() == rip);
  // A page fault after a stop is reported again, and a fault before the bitmap is read is no stop.
  mmu.answer = LinearReader::Answer::PageFault;
  CHECK(f.step(read).kind == Kind::Exception);
  mmu.addresses.clear();
  CHECK(f.step({Form::UrdmsrImm, 1, 0, 0x4000}).text() == "#GP(0)");
  CHECK(mmu.addresses.empty());
  f.machine->set_linear_reader({});
  CHECK(f.step(read).text() == "#GP(0)");
  f.page.fill(std::byte{0xff});
  CHECK(f.step(read).kind == Kind::Done);
  CHECK(mmu.addresses.empty());
}

TEST_CASE("all general registers are one span that stays, read and written in place") {
  Fixture f({.engine = any_engine(), .has_apx = true});
  const std::span<std::uint64_t, 32> registers = f.machine->gprs();
  for (unsigned reg = 0; reg < 32; ++reg) registers[reg] = reg == 30 ? 0x10 : reg;
  for (unsigned reg = 0; reg < 32; ++reg) CHECK(f.machine->gpr(reg) == registers[reg]);
  CHECK(f.step({Form::UrdmsrRegApx, 31, 30}).kind == Kind::Done);
  CHECK(registers[31] == 0x1111222233334444);
  CHECK(f.machine->gprs().data() == registers.data());
}

TEST_CASE(
    "a step is never stale: CPL, guest, mode, bitmaps, new registers, and more instructions than are kept") {
  Fixture f({.engine = any_engine()});
  const Instruction privileged{Form::RdmsrImm, 1, 0, 0x10}, read{Form::UrdmsrImm, 1, 0, 0x10},
      missing{Form::UrdmsrImm, 1, 0, 0x777};
  for (int round = 0; round < 3; ++round) {
    REQUIRE(f.machine->set_cpl(0));
    CHECK(f.step(privileged).kind == Kind::Done);
    REQUIRE(f.machine->set_cpl(3));
    CHECK(f.step(privileged).text() == "#GP(0)");
    CHECK(f.step(read).kind == Kind::Done);
    f.machine->vmx().in_guest = true;
    CHECK(f.step(read).kind == Kind::VmExit);
    f.machine->vmx().use_msr_bitmaps = true;
    CHECK(f.step(read).kind == Kind::Done);
    f.machine->vmx() = {};
    f.machine->set_mode(x86::Mode::Bits32);
    CHECK(f.step(read).vector == Vector::UD);
    f.machine->set_mode(x86::Mode::Bits64);
    CHECK(f.step(read).kind == Kind::Done);
  }
  CHECK(f.step(missing).text() == "#GP(0)");
  f.add(0x777, 42);
  CHECK(f.step(missing).kind == Kind::Done);
  CHECK(f.machine->gpr(1) == 42);
  // The same bytes are a different instruction when more or fewer of them are given.
  const x86::Encoded e = x86::encode(read);
  for (std::size_t length = 0; length < e.length; ++length)
    CHECK(f.machine->step(e.view().first(length)).kind == Kind::Truncated);
  for (std::uint32_t msr = 0; msr < 5000; ++msr) {
    const bool exists = f.machine->msrs().find(msr) != MsrFile::no_slot;
    CHECK((f.step({Form::UrdmsrImm, 1, 0, msr}).kind == Kind::Done) == exists);
    if (msr % 512 == 0) CHECK(f.step(read).kind == Kind::Done);
  }
  CHECK(f.step(read).kind == Kind::Done);
  CHECK(f.machine->gpr(1) == 0x1111222233334444);
}
