// The EU without GEN: instructions built by hand, for targets that belong to no GEN family.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/lower.hpp"
#include "frontend/eu/messages/message_lowering.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/engine.hpp"

using namespace eum;

namespace {

/// Instructions of 16 bytes, one after the other.
class HandWritten final : public eu::Program {
 public:
  explicit HandWritten(std::vector<eu::Instruction> code) : code_(std::move(code)) {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      code_[i].ip = static_cast<std::uint32_t>(16 * i);
      code_[i].next = code_[i].ip + 16;
    }
  }
  std::uint32_t bytes() const override { return static_cast<std::uint32_t>(16 * code_.size()); }
  Result<eu::Instruction> fetch(std::uint32_t ip) const override {
    if (ip % 16 != 0) return error("no instruction at {}", ip);
    return code_[ip / 16];
  }
  std::string text(std::uint32_t ip) const override { return fmt::format("instruction {}", ip / 16); }
  std::string refusal(std::uint32_t ip) const override { return text(ip); }
  std::uint32_t step(std::uint32_t) const override { return 16; }

 private:
  std::vector<eu::Instruction> code_;
};

constexpr eu::Target wide{"wide", 64, 256, 512};

eu::Operand reg(unsigned number, ir::Type type) {
  eu::Operand op;
  op.kind = eu::OperandKind::Register;
  op.type = type;
  op.offset = number * wide.grf_bytes;
  op.region = {1, 1, 0};
  return op;
}
eu::Operand to(unsigned number, ir::Type type) {
  eu::Operand op = reg(number, type);
  op.region = {0, 1, 1};
  return op;
}

eu::Instruction binary(eu::Handler lower, ir::Op op, unsigned lanes, eu::Operand dst, eu::Operand a,
                       eu::Operand b) {
  eu::Instruction in;
  in.lower = lower;
  in.op = op;
  in.exec_size = static_cast<std::uint8_t>(lanes);
  in.source_count = 2;
  in.dst = dst;
  in.src = {a, b};
  return in;
}

eu::Instruction end() {
  eu::Instruction in;
  in.lower = &eu::lower_send;
  in.flow.kind = eu::FlowKind::stop;
  in.message.lower = &eu::lower_end_of_thread;
  in.message.ends_thread = true;
  return in;
}

struct Outcome {
  std::vector<std::byte> file, flags;
  std::string trap;
};

/// Runs `program` with registers whose dwords hold their index.
Outcome run(const HandWritten& program, unsigned simd, jit::EngineKind kind) {
  Result<ir::Function> function = eu::lower(program, wide, simd, "k");
  if (!function) FAIL(function.error().message);
  if (Result<void> good = ir::verify(*function); !good) FAIL(good.error().message);
  const std::vector<std::string> texts = function->strings;
  auto engine = jit::info(kind).make();
  REQUIRE(engine);
  auto executable = (*engine)->compile(*function, {});
  if (!executable) FAIL(executable.error().message);
  const jit::StateLayout layout = (*executable)->layout();
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(64, layout.size)), &std::free);
  std::memset(memory.get(), 0, layout.size);
  auto& state = *new (memory.get()) jit::ThreadState;
  jit::Environment environment;
  state.environment = &environment;
  state.budget = 1000;
  layout.masks_of(state)[0] = static_cast<std::uint32_t>((std::uint64_t{1} << simd) - 1);
  for (std::uint32_t i = 0; i < wide.grf_file_bytes() / 4; ++i)
    std::memcpy(layout.file_of(state) + 4 * i, &i, 4);
  const jit::Status status = (*executable)->run(state);
  Outcome outcome;
  outcome.file.assign(layout.file_of(state), layout.file_of(state) + wide.grf_file_bytes());
  outcome.flags.assign(layout.flags_of(state), layout.flags_of(state) + wide.flag_bits / 8);
  if (status == jit::Status::Faulted) {
    REQUIRE(state.fault.kind == jit::FaultKind::Unsupported);
    outcome.trap = texts.at(state.fault.address);
  } else {
    REQUIRE(status == jit::Status::Exited);
  }
  return outcome;
}

std::uint32_t dword(const std::vector<std::byte>& bytes, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

constexpr std::uint32_t dwords_in_register = 16;

}  // namespace

TEST_CASE("a target of 256 registers of 64 bytes and 16 flag registers, dispatched 1 to 32 channels wide") {
  for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference})
    for (const unsigned simd : {1u, 8u, 16u, 32u}) {
      CAPTURE(jit::info(kind).name, simd);
      using enum ir::Type;
      // p9 = r250 < 250 * 16 + simd / 2, then r254 = r250 + r252 where p9.
      eu::Operand limit;
      limit.kind = eu::OperandKind::Immediate;
      limit.type = u32;
      limit.immediate = 250 * dwords_in_register + simd / 2;
      eu::Instruction compare = binary(&eu::lower_cmp, ir::Op{}, simd, {}, reg(250, u32), limit);
      compare.dst.kind = eu::OperandKind::Null;
      compare.dst.type = u32;
      compare.condition = eu::Condition::lt;
      compare.flag = 9 * 32;
      eu::Instruction add =
          binary(&eu::lower_wrapping, ir::Op::add, simd, to(254, u32), reg(250, u32), reg(252, u32));
      add.predicate.control = eu::Predicate::Control::Channel;
      add.flag = 9 * 32;
      const Outcome got = run(HandWritten({compare, add, end()}), simd, kind);
      REQUIRE(got.trap == "");
      CHECK(dword(got.flags, 9) == (std::uint32_t{1} << simd / 2) - 1);
      for (std::uint32_t i = 0; i < 2 * dwords_in_register; ++i) {
        CAPTURE(i);
        const std::uint32_t at = 254 * dwords_in_register + i;
        const std::uint32_t sum = 250 * dwords_in_register + i + 252 * dwords_in_register + i;
        CHECK(dword(got.file, at) == (i < simd / 2 ? sum : at));
      }
    }
}

TEST_CASE("regions and flags end where the target says") {
  using enum ir::Type;
  const auto trap = [](const eu::Instruction& in) {
    return run(HandWritten({in, end()}), 16, jit::EngineKind::reference).trap;
  };
  const auto add = [](unsigned dst) {
    return binary(&eu::lower_wrapping, ir::Op::add, 16, to(dst, u32), reg(1, u32), reg(2, u32));
  };
  CHECK(trap(add(255)) == "");
  eu::Instruction beyond = add(255);
  beyond.dst.offset += 4;
  CHECK(trap(beyond) == "unsupported: instruction 0 (region beyond the last general register)");
  eu::Instruction predicated = add(3);
  predicated.predicate.control = eu::Predicate::Control::Channel;
  predicated.flag = 15 * 32 + 16;
  CHECK(trap(predicated) == "");
  predicated.flag = 15 * 32 + 17;
  CHECK(trap(predicated) == "unsupported: instruction 0 (flags beyond the flag register)");
  predicated.flag = 16 * 32;
  CHECK(trap(predicated) == "unsupported: instruction 0 (flags beyond the flag register)");
  eu::Instruction refused;
  CHECK(trap(refused) == "instruction 0");
}

TEST_CASE("more places where channels are parked than there are mask variables end in a trap") {
  std::vector<eu::Instruction> code;
  for (std::int64_t i = 0; i < std::int64_t{ir::max_mask_variables}; ++i) {
    eu::Instruction in;
    in.lower = &eu::lower_flow;
    in.exec_size = 8;
    in.predicate.control = eu::Predicate::Control::Channel;
    in.flow = {eu::FlowKind::if_, 16 * (i + 1), 16 * (i + 1)};
    code.push_back(in);
  }
  code.push_back(end());
  CHECK(run(HandWritten(code), 8, jit::EngineKind::reference).trap ==
        fmt::format("unsupported: expected at most {} places where channels are parked, found {}",
                    ir::max_mask_variables - 1, ir::max_mask_variables));
}

TEST_CASE("integers are ordered: csel by unordered takes the second source") {
  using enum ir::Type;
  for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference}) {
    eu::Instruction in = binary(&eu::lower_csel, ir::Op{}, 16, to(254, u32), reg(250, u32), reg(252, u32));
    in.source_count = 3;
    in.src[2] = reg(251, u32);
    in.condition = eu::Condition::un;
    const Outcome got = run(HandWritten({in, end()}), 16, kind);
    REQUIRE(got.trap == "");
    CHECK(dword(got.file, 254 * dwords_in_register) == 252 * dwords_in_register);
  }
}

TEST_CASE("one element for all channels is the one that the swizzle names, on or off") {
  using enum ir::Type;
  for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference}) {
    // The mask is dword y of r3: 3 * 16 + 1 = 0x31.
    eu::Instruction in = binary(&eu::lower_smov, ir::Op{}, 8, to(254, u32), reg(250, u32), reg(3, u32));
    in.src[1].region = {4, 4, 1};
    in.src[1].swizzle = 0x39;
    in.enabled = ~1u;
    const Outcome got = run(HandWritten({in, end()}), 8, kind);
    REQUIRE(got.trap == "");
    for (std::uint32_t i = 0; i < 8; ++i) {
      CAPTURE(i);
      const bool written = (0x30 >> i & 1) != 0;
      CHECK(dword(got.file, 254 * dwords_in_register + i) == (written ? 250 : 254) * dwords_in_register + i);
    }
  }
}
