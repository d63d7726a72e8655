#pragma once
// A vISA kernel and the functions that it calls as a program of the EU: each instruction has an ip, including
// the labels where channels reconverge. It must not know what instructions mean.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/eu/messages/lsc.hpp"
#include "frontend/eu/program.hpp"
#include "frontend/visa/kernel.hpp"
#include "frontend/visa/lower/layout.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/lower/surfaces.hpp"

namespace eum::visa {

/// Instructions with a common return: the kernel's own, a subroutine or a function.
struct Segment {
  std::uint32_t unit = 0;   ///< index in Program's list of Program::Unit
  std::uint32_t first = 0;  ///< index in the unit of its first instruction
  std::uint32_t last = 0;   ///< index after its last instruction
  std::uint32_t first_ip = 0;
  std::uint32_t end_ip = 0;       ///< where it ends: for the kernel the thread, otherwise the call
  std::uint32_t return_slot = 0;  ///< byte offset of the return address in the register file; 0: the kernel
};

class Program final : public eu::Program {
 public:
  static Result<std::unique_ptr<Program>> make(const Module& module, std::size_t kernel, unsigned grf_bytes,
                                               const Symbols& symbols);

  const eu::Target& target() const { return units_.front().layout.target(); }
  /// Number of channels of the dispatch.
  unsigned simd() const { return simd_; }

  // ---- eu::Program ----
  std::uint32_t bytes() const override { return static_cast<std::uint32_t>(entries_.size()) * unit_bytes; }
  Result<eu::Instruction> fetch(std::uint32_t ip) const override;
  std::string text(std::uint32_t ip) const override;
  std::string refusal(std::uint32_t ip) const override;
  std::uint32_t step(std::uint32_t) const override { return unit_bytes; }

  // ---- for translation ----
  /// A .kernel or .global_function of the program.
  struct Unit {
    const Kernel* kernel = nullptr;
    Layout layout;
    Surfaces surfaces;
    std::uint32_t first_segment = 0;
    std::vector<std::uint32_t> ips;        ///< by instruction
    std::vector<std::uint32_t> segments;   ///< by instruction
    std::vector<bool> joins;               ///< by instruction: whether channels reconverge there
    std::vector<std::uint32_t> next_join;  ///< by instruction: ip of the first join after it, or no_ip
  };
  static constexpr std::uint32_t no_ip = ~std::uint32_t{0};

  const Segment& segment(std::uint32_t index) const { return segments_[index]; }
  /// The segment of the function called `name`, or null.
  const Segment* function(std::string_view name) const;
  /// The segment that a call calls, or null.
  const Segment* callee(const Unit& unit, const Instruction& inst) const;
  const Symbols& symbols() const { return symbols_; }
  // Each stores data that an instruction refers to for the lifetime of the program.
  std::span<const std::uint32_t> keep(std::vector<std::uint32_t> table) const {
    tables_.push_back(std::move(table));
    return tables_.back();
  }
  const eu::MessageOperands* keep(eu::MessageOperands operands) const {
    message_operands_.push_back(std::move(operands));
    return &message_operands_.back();
  }
  const eu::LscMessage* keep(eu::LscMessage message) const {
    lsc_messages_.push_back(std::move(message));
    return &lsc_messages_.back();
  }

 private:
  struct Entry {
    std::uint32_t unit = 0;
    std::uint32_t instruction = 0;
    std::uint32_t segment = 0;
    bool end = false;  ///< the end of the segment, after its last instruction
  };

  Program(const Module& module, const Symbols& symbols) : module_(module), symbols_(symbols) {}
  Result<void> add_units(std::size_t kernel);
  void add_segments();
  void place_joins();
  Result<void> lay_out(unsigned grf_bytes);
  Result<void> check_calls() const;
  eu::Instruction end_of(const Entry& entry, std::uint32_t ip) const;

  const Module& module_;
  const Symbols& symbols_;
  unsigned simd_ = 0;
  std::vector<Unit> units_;
  std::vector<Segment> segments_;
  std::vector<Entry> entries_;
  mutable std::deque<std::vector<std::uint32_t>> tables_;
  mutable std::deque<eu::MessageOperands> message_operands_;
  mutable std::deque<eu::LscMessage> lsc_messages_;
};

}  // namespace eum::visa
