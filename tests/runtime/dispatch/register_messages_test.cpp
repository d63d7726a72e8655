// Messages whose descriptors are known only from registers at run time.
#include <catch2/catch.hpp>

#include "tests/runtime/dispatch/walked.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

// Lanes below r2.1 store lane + x at lane * 4, where x is the group's, by a message with the descriptor r2.0
// + x. Assembled by iga64 -a -p 9.
constexpr std::string_view words =
    "01006000483640210000000010325476"   // mov (8|M0) r10.0<1>:uw 0x76543210:v
    "010060002812602140018d0000000000"   // mov (8|M0) r11.0<1>:d r10.0<8;8,1>:uw
    "09006000280a802160018d1e02000200"   // shl (8|M0) r12.0<1>:d r11.0<8;8,1>:d 2:w
    "40006000280aa02160018d0a04000000"   // add (8|M0) r13.0<1>:d r11.0<8;8,1>:d r0.1<0;1,0>:d
    "10006005200a002060018d0a44000000"   // cmp (8|M0) (lt)f0.0 null<1>:d r11.0<8;8,1>:d r2.1<0;1,0>:d
    "22006100000e00203000000030000000"   // (f0.0) if (8|M0) L1 L1
    "40000000040200224000000204000000"   // (W) add (1|M0) a0.0<1>:ud r2.0<0;1,0>:ud r0.1<0;1,0>:ud
    "3300600c10d000008121000000000000"   // sends (8|M0) null:ud r12 r13 0x4C a0.0
    "25006000000000200000000e10000000"   // endif (8|M0) L2
    "01006000e83ae02f00008d0000000000"   // mov (8|M0) r127.0<1>:f r0.0<8;8,1>:f
    "3100600700020020e00f000610000082";  // send (8|M0) null r127 0x27 0x2000010 {EOT}

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

constexpr std::uint32_t untyped_write = 0x2026e00;  // SIMD8, one component, surface 0
constexpr std::uint32_t message_ip = 0x70;

struct Chosen {
  explicit Chosen(jit::EngineKind engine, std::uint32_t descriptor, std::uint32_t lanes,
                  jit::Safepoints safepoints = jit::Safepoints::BackEdges)
      : code(bytes_of(words)),
        walked({.name = "chosen", .bytes = code, .simd = 8}, engine,
               {.exact_registers = false, .safepoints = safepoints}) {
    walked.cross = {descriptor, lanes};
    for (std::size_t s = 0; s < data.size(); ++s) {
      data[s].fill(99);
      walked.surfaces[s] =
          mem::buffer_surface(reinterpret_cast<std::byte*>(data[s].data()), sizeof data[s], 0);
    }
  }

  std::vector<std::byte> code;
  Walked walked;
  std::array<std::array<std::uint32_t, 8>, 3> data{};
};

}  // namespace

TEST_CASE("a message goes to the surface that a register chooses", "[dispatch]") {
  for (const jit::EngineKind engine : engines)
    for (const jit::Safepoints safepoints :
         {jit::Safepoints::BackEdges, jit::Safepoints::Messages, jit::Safepoints::Instructions})
      for (const unsigned workers : {1u, 2u})
        for (const std::uint32_t lanes : {0u, 5u, 8u}) {
          CAPTURE(jit::info(engine).name, static_cast<int>(safepoints), workers, lanes);
          Chosen chosen(engine, untyped_write, lanes, safepoints);
          chosen.walked.command.groups = {3, 1, 1};
          chosen.walked.command.threads_per_group = 2;
          const Outcome outcome = chosen.walked.done(workers);
          CHECK_FALSE(outcome.fault);
          CHECK(outcome.counts.threads == 6);
          CHECK(outcome.counts.instructions == 6 * (lanes == 0 ? 9 : 11));
          for (std::uint32_t s = 0; s < chosen.data.size(); ++s)
            for (std::uint32_t lane = 0; lane < 8; ++lane)
              CHECK(chosen.data[s][lane] == (lane < lanes ? lane + s : 99));
        }
}

TEST_CASE("what a register asks for and no message does is a fault", "[dispatch]") {
  for (const jit::EngineKind engine : engines) {
    CAPTURE(jit::info(engine).name);
    const auto fault_of = [&](std::uint32_t descriptor) {
      Chosen chosen(engine, descriptor, 8);
      const GuestFault fault = chosen.walked.fault(1);
      CHECK(fault.fault.guest_ip == message_ip);
      CHECK(fault.fault.kind == jit::FaultKind::Refused);
      return std::string(fault.fault.kind == jit::FaultKind::Refused ? fault.fault.reason : "");
    };
    // An undefined message type, and a payload that is too short.
    CHECK_THAT(fault_of(untyped_write | 0x1fu << 14), Contains("message type 0x1f"));
    CHECK_THAT(fault_of(untyped_write - (1u << 25)), Contains("expected") && Contains("payload registers"));
  }
}

TEST_CASE("an access that faults, of a message that a register describes", "[dispatch]") {
  for (const jit::EngineKind engine : engines) {
    CAPTURE(jit::info(engine).name);
    constexpr std::uint32_t stateless = 0xff;
    Chosen chosen(engine, untyped_write | stateless, 3);
    const jit::Fault fault = chosen.walked.fault(1).fault;
    CHECK(fault.kind == jit::FaultKind::OutOfBounds);
    CHECK(fault.guest_ip == message_ip);
    CHECK(fault.bytes == 4);
  }
}
