#pragma once
// Strip: consecutive threads of a group, run by one loop. Where their local ids change by a constant from
// thread to thread, so do the addresses that follow the ids: such accesses are checked once, for all of the
// threads. That is done in the head, before the loop; the body, executed for each thread, is what remains.
// Where lines have several threads (IdSteps), each line is checked like one wide thread.
// Where a check fails, or not all threads go the way through the function that the strip was made for,
// nothing has been done yet, and the threads run one by one.
//
// It decides what belongs to head and body; it emits nothing and knows no host.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "jit/codegen/block_code.hpp"
#include "jit/engine.hpp"

namespace eum::jit::codegen {

class Strip {
 public:
  /// By how much something is higher in each line than in the one before, by + factor * times, and in each
  /// thread than in the one before it of the same line.
  struct Step {
    std::uint32_t by = 0;
    ir::ValueId factor = ir::no_value;  ///< a scalar that is the same in all threads
    std::uint32_t times = 0;
    std::uint32_t in_line = 0;
    bool is_constant() const { return factor == ir::no_value; }
    bool is_zero() const { return is_constant() && by == 0 && in_line == 0; }
    Step scaled(std::uint32_t scale) const { return {by * scale, factor, times * scale, in_line * scale}; }
    bool operator==(const Step&) const = default;
  };
  /// What accesses near each other share: the memory between the first and the last byte that they access in
  /// a line.
  struct Window {
    ir::ValueId base = ir::no_value;     ///< of distances
    ir::ValueId address = ir::no_value;  ///< the lowest one of the first thread
    Step step;                           ///< bytes
    std::uint32_t scale = 1;             ///< bytes for each 1 of the address
    std::uint32_t bytes = 0;             ///< of a line
  };
  /// What must hold in every lane of every thread.
  struct Condition {
    bool expected;        ///< the result of the ramp op, or the value of branch_any's mask
    std::uint32_t step;   ///< of a ramp op's first operand, by line; a mask is the same in all threads
    std::uint32_t lanes;  ///< of a line
  };
  struct Facts {
    const ir::Function& function;
    IdSteps id_steps;
    std::uint32_t group_dwords;  ///< as CompileOptions has them
    std::uint32_t mode;          ///< cr0.0 with which each thread begins
    std::span<const FileRange> restored;
  };
  static constexpr std::size_t most_steps = 2, most_windows = 14;
  /// The highest step of a window in bytes; higher ones are products that have wrapped around.
  static constexpr std::uint32_t highest_step = 1 << 20;

  /// None if the function is no single way without loops, or if no access can be checked for all threads.
  /// Uses `code`, whose block is then none.
  static std::optional<Strip> of(const Facts& facts, BlockCode& code);

  /// Scalars, then an instruction without results for each condition, then an access for each window, with
  /// the operands base (if any), address, factor of the step (if any).
  std::span<CodeInst> head() { return head_; }
  std::span<const Condition> conditions() const { return conditions_; }
  std::span<const Window> windows() const { return windows_; }
  /// What each thread executes, up to its exit. Instructions with a `window` have no addresses.
  std::span<CodeInst> body() { return body_; }
  /// The different steps of the windows, other than 0.
  std::span<const Step> steps() const { return steps_; }
  std::uint32_t line_threads() const { return line_threads_; }
  std::uint32_t guest_instructions() const { return guest_instructions_; }
  /// Whether the body changes slots of Facts::restored.
  bool writes_restored() const { return writes_restored_; }
  /// Whether the body has accesses of lanes without a window; and whether any of those has a mask or an
  /// operand for the surface, or there is an op of scalars with many operands or results: they take
  /// registers.
  bool has_other_accesses() const { return has_other_accesses_; }
  bool has_large_ops() const { return has_large_ops_; }

 private:
  friend class StripBuilder;
  std::vector<CodeInst> head_, body_;
  std::vector<Condition> conditions_;
  std::vector<Window> windows_;
  std::vector<Step> steps_;
  std::deque<std::vector<ir::ValueId>> operands_;
  std::uint32_t guest_instructions_ = 0, line_threads_ = 1;
  bool writes_restored_ = false, has_other_accesses_ = false, has_large_ops_ = false;
};

}  // namespace eum::jit::codegen
