#pragma once
// One instruction as the EU executes it: what front ends hand to lowering. Plain data, no heap.
#include <array>
#include <cstdint>

#include "frontend/eu/flow.hpp"
#include "frontend/eu/message.hpp"
#include "frontend/eu/operand.hpp"
#include "frontend/ir/ops.hpp"

namespace eum::eu {

class Lowering;
struct LscMessage;
/// Lowers an instruction into micro-ops (handlers.hpp). `op` is the micro-op in the front end's table row,
/// for functions that serve several instructions.
using Handler = void (*)(Lowering&, ir::Op op);

enum class Condition : std::uint8_t { None, eq, ne, gt, ge, lt, le, ov, un };

/// How flag bits become a predicate.
struct Predicate {
  enum class Control : std::uint8_t {
    None,
    Channel,    ///< each channel its own bit
    AnyV,       ///< the bit of flag register 0 or of flag register 1
    AllV,       ///< both
    AnyH,       ///< any of the group of channels
    AllH,       ///< all of the group
    Component,  ///< channel `component` of each group of four
    First,      ///< the bit of the first channel decides for all
  };
  Control control = Control::None;
  std::uint8_t group = 1;  ///< AnyH, AllH, Component: channels, a power of two
  std::uint8_t component = 0;
  bool inverse = false;  ///< applies to the result of the control
};

struct Instruction {
  Handler lower = nullptr;  ///< null: the front end refuses the instruction (Program::refusal says why)
  ir::Op op{};
  std::uint8_t exec_size = 1;
  std::uint8_t channel_offset = 0;  ///< first channel of the dispatch
  bool paired = false;            ///< each of exec_size lanes takes two channels, the first of which decides
  std::uint8_t source_count = 0;  ///< number of elements of src[] in use
  bool no_mask = false;
  bool saturate = false;
  bool truncates = false;           ///< f64 becomes f32 rounded to zero
  bool writes_accumulator = false;  ///< {AccWrEn}
  Condition condition = Condition::None;
  Predicate predicate;
  std::uint32_t flag = 0;       ///< bit of channel 0, for predicate and condition alike
  bool uses_flag = false;       ///< besides predicate and condition
  std::uint8_t function = 0;    ///< truth table of a function of three bits (lower_boolean_function)
  std::uint32_t enabled = ~0u;  ///< lanes that the destination takes; others write neither it nor flags
  std::uint32_t modes = 0;      ///< bits of cr0.0 that it may set
  bool reads_clock = false;     ///< of the timestamp register
  bool breaks = false;          ///< {Breakpoint}
  bool padding = false;         ///< filler between functions, which control never reaches
  /// For a message without handler: the dwords of the address register that hold its descriptor and its
  /// extended descriptor; -1: it is in the instruction.
  std::array<std::int8_t, 2> descriptors{-1, -1};
  std::uint32_t ip = 0;    ///< bytes from the kernel's start
  std::uint32_t next = 0;  ///< ip of the next instruction
  Operand dst;
  Operand dst2;  ///< for handlers that have two results
  std::array<Operand, 4> src;
  Flow flow;
  Message message;
  const LscMessage* lsc = nullptr;  ///< for lower_lsc; owned by the program

  constexpr bool needs_descriptors() const { return descriptors[0] >= 0 || descriptors[1] >= 0; }
  constexpr bool predicated() const { return predicate.control != Predicate::Control::None; }
  constexpr bool has_dst() const { return dst.kind != OperandKind::None; }
};

}  // namespace eum::eu
