#pragma once
// One instruction being executed by the model: its sources as they were before any write, masks, and where
// results go. Independent of what the opcodes compute (operations.cpp).
#include <array>
#include <optional>

#include "tests/frontend/eu/model/machine.hpp"

namespace eum::model {

/// The result of an operation for one channel.
struct Result {
  Number value;
  /// The destination's bits, for operations that copy bits.
  std::optional<std::uint64_t> raw = std::nullopt;
  /// The accumulator takes the exact integer, not the destination's truncated value.
  bool exact = false;
  /// The accumulator's value, if it differs from the result.
  std::optional<Wide> accumulator = std::nullopt;
  bool approximate = false;
  bool unknown = false;
  /// The condition's value, if it does not follow from the result (cmp, cmpn).
  std::optional<bool> holds = std::nullopt;
};

class Execution {
 public:
  Execution(const gen::Instruction& inst, Machine& machine, Outcome& outcome);

  const gen::Instruction& inst() const { return inst_; }
  const FloatMode& mode() const { return machine_.mode; }
  gen::Family family() const { return machine_.family; }
  /// The number of elements; an element may span a pair of channels.
  unsigned lanes() const { return paired_ ? inst_.exec_size / 2u : inst_.exec_size; }
  /// The float type in which the instruction computes; nothing for integers.
  std::optional<Type> float_type() const { return float_type_; }
  /// An integer accumulator is a source, so results have its 64 bits.
  bool reads_accumulator() const { return reads_accumulator_; }
  void read_implicit_accumulator() { reads_accumulator_ = true; }

  bool predicate(unsigned channel) const;
  bool enabled(unsigned channel) const;
  /// A source in the execution type with modifiers applied; `flushed`: denormals flushed by the mode.
  Number source(unsigned index, unsigned channel, bool flushed = true) const;
  /// The source's element without modifiers.
  Number element(unsigned index, unsigned channel) const { return value_[index][channel]; }
  std::uint64_t bits(unsigned index, unsigned channel) const { return raw_[index][channel]; }
  /// For an operand with an implied region (line, pln): the element `bytes` behind the first.
  Number behind(unsigned index, unsigned bytes) const;
  /// A channel's accumulator as an implicit source.
  Number accumulator(unsigned channel) const;

  /// Writes a channel's results: condition, saturation, conversion, destination, accumulator.
  void finish(unsigned channel, const Result& result);
  /// Writes an element `bytes` behind the destination, such as math's remainder.
  void write_behind(unsigned channel, unsigned bytes, Wide value);
  void write_flag(unsigned channel, bool value);

 private:
  std::uint64_t read(const gen::Operand& op, unsigned channel, bool destination) const;
  unsigned distance(const gen::Operand& op, unsigned channel, bool destination) const;
  unsigned address(const gen::Operand& op, unsigned channel, bool destination) const;
  std::uint64_t immediate(const gen::Operand& op, unsigned channel) const;
  Wide content(unsigned offset, unsigned bytes) const;
  void write_content(unsigned offset, unsigned bytes, Wide value);
  void write_register(unsigned channel, std::uint64_t bits);
  unsigned implicit_offset(Type type, unsigned channel) const;
  void write_accumulator(unsigned offset, Type type, const Result& result, const Number& final,
                         std::uint64_t bits);

  unsigned channel_of(unsigned n) const { return inst_.channel_offset + (paired_ ? 2 * n : n); }
  std::uint64_t flag_bits(unsigned n) const;

  gen::Instruction inst_;
  bool paired_;
  Machine& machine_;
  Outcome& outcome_;
  Machine before_;
  std::optional<Type> float_type_;
  bool reads_accumulator_ = false;
  std::array<std::array<std::uint64_t, 32>, 3> raw_{};
  std::array<std::array<Number, 32>, 3> value_{};
};

constexpr Type element_type(Type type) {
  return type == Type::uv ? Type::uw : type == Type::v ? Type::w : type == Type::vf ? Type::f : type;
}
constexpr bool is_dword(Type type) { return !gen::is_float(type) && gen::size_of(type) == 4; }

}  // namespace eum::model
