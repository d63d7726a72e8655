#pragma once
// What a rule sees of an instruction, and where it reports findings. For the files of this folder only.
#include <algorithm>
#include <vector>

#include "frontend/gen/check/check.hpp"

namespace eum::gen::check {

/// Where instructions of a kernel begin.
struct KernelPlaces {
  std::size_t bytes = 0;
  std::vector<std::uint32_t> starts;  ///< ascending

  bool begins_at(std::int64_t offset) const {
    return offset >= 0 && offset < static_cast<std::int64_t>(bytes) &&
           std::binary_search(starts.begin(), starts.end(), static_cast<std::uint32_t>(offset));
  }
};

/// An instruction with the properties that many rules need.
struct Subject {
  Instruction in;
  Family family;
  std::span<const std::byte> word;       ///< as encoded; empty if unknown
  const KernelPlaces* kernel = nullptr;  ///< null: the kernel is unknown
  bool splits_doubles = false;           ///< doubles are pairs of channels, and an operand of `in` splits one

  Format format = shape(in.opcode, family).format;
  unsigned grf_bytes = info(family).grf_bytes;

  /// Whether the operands have regions: not for messages, branches and three-source instructions, whose
  /// operands are encoded differently.
  bool regular() const {
    return format == Format::Unary || format == Format::Binary || format == Format::Math ||
           format == Format::DoubleImm;
  }
  bool regions() const { return regular() && !in.align16 && !is_macro(in.math); }
  bool computes() const { return regular() || format == Format::Ternary; }
  std::span<const Operand> sources() const { return {in.src.data(), in.source_count}; }
  /// Whether a destination other than null is written.
  bool writes() const { return in.has_dst && !in.dst.is_null() && in.dst.kind != OperandKind::None; }

  /// Bytes of the execution type: that of the widest source; bytes count as words, and hf as f where both
  /// occur or the destination is f.
  unsigned execution_bytes() const;
  /// Whether both f and hf occur among sources and destination.
  bool mixed_floats() const;
  /// Whether there are 64-bit elements or a product of dwords.
  bool wide() const;
  bool dword_multiply() const;
};

constexpr bool in_register(const Operand& op) {
  return op.kind == OperandKind::Direct || op.kind == OperandKind::Indirect;
}
constexpr bool is_packed_vector(Type type) { return type == Type::uv || type == Type::v || type == Type::vf; }
/// Bytes of an element in computations; those of uv and v are words.
constexpr unsigned element_bytes(Type type) {
  return type == Type::uv || type == Type::v ? 2 : type == Type::none ? 0 : size_of(type);
}
/// Whether all channels read one element.
constexpr bool is_scalar(const Operand& op) {
  return op.region.vstride == 0 && op.region.hstride == 0 && op.region.width == 1;
}
/// Elements from one channel to the next within a row, or from row to row if a row has only one.
constexpr unsigned step_of(const Operand& op) {
  return op.region.width == 1 ? op.region.vstride : op.region.hstride;
}
/// Whether each row is addressed by an address register of its own.
constexpr bool is_vxh(const Operand& op) {
  return op.kind == OperandKind::Indirect && op.region.vstride == Region::vxh;
}
constexpr Place source_place(std::size_t i) {
  return static_cast<Place>(static_cast<unsigned>(Place::Src0) + i);
}

/// Collects the findings of one rule in one instruction.
class Report {
 public:
  Report(std::vector<Finding>& to, Rule rule, std::uint32_t offset) : to_(to), rule_(rule), offset_(offset) {}
  void operator()(Place place = Place::Instruction) { to_.push_back({rule_, place, offset_}); }
  void when(bool broken, Place place = Place::Instruction) {
    if (broken) (*this)(place);
  }

 private:
  std::vector<Finding>& to_;
  Rule rule_;
  std::uint32_t offset_;
};

#define GEN_RULE(name, ...) void rule_##name(const Subject& s, Report& found);
#include "frontend/gen/check/rules.def"
#undef GEN_RULE

}  // namespace eum::gen::check
