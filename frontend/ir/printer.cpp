// Functions as text, and their comparison.
#include "frontend/ir/printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "frontend/ir/attribute.hpp"
#include "frontend/ir/semantics/lane.hpp"

namespace eum::ir {
namespace {

using Place = AttributeInfo::Place;

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string word_or_quoted(std::string_view text) { return is_word(text) ? std::string(text) : quoted(text); }

/// `name_values`: print the numbers of values; otherwise all values print alike.
void write_inst(const Function& function, const Inst& inst, std::string& out, bool name_values) {
  InstText text(function, inst, out, name_values);
  for (unsigned k = 0; k < inst.result_count; ++k) {
    if (k != 0) out += ", ";
    text.value(inst.result + k);
  }
  if (inst.result_count != 0) out += " = ";
  out += op_name(inst.op);
  const ShapeInfo& shape = shape_of(inst.op);
  if (shape.typed()) {
    text.append(".{}", info(inst.type).name);
    if (shape.has_from()) text.append(".{}", info(inst.from).name);
    text.append("x{}", inst.lanes);
  }
  const AttributeInfo& attribute = info(shape.attribute);
  if (attribute.place == Place::First) attribute.print(text);
  while (text.next_arg < inst.arg_count) {
    text.separate(", ");
    text.next_value();
  }
  if (attribute.place == Place::Last) attribute.print(text);
  if (inst.mask != no_value) {
    out += " ? ";
    text.value(inst.mask);
  }
}

class Printer {
 public:
  Printer(const Function& function, std::string& out) : function_(function), out_(out) {}

  void print_function() {
    append("kernel @{} simd {} family {} file {} slot {}", word_or_quoted(function_.name), function_.simd,
           word_or_quoted(function_.family), function_.file_bytes, function_.slot_bytes);
    if (function_.indirect_bytes != 0) append(" indirect {}", function_.indirect_bytes);
    if (function_.flag_bits != Function().flag_bits) append(" flags {}", function_.flag_bits);
    append(" masks {}", function_.mask_variables);
    for (std::size_t i = 0; i < function_.park_ips.size(); ++i)
      append("{}{:#x}", i == 0 ? " at " : ", ", function_.park_ips[i]);
    out_ += '\n';
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) print_block(b);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void print_block(std::size_t b) {
    const Block& block = function_.blocks[b];
    append("b{}: ip {:#x} count {}{}\n", b, block.guest_ip, block.guest_instructions,
           block.safepoint ? " safepoint" : "");
    std::uint32_t ip = block.guest_ip;
    for (const Inst& inst : block.insts) {
      const std::size_t line = out_.size();
      out_ += "  ";
      write_inst(function_, inst, out_, true);
      if (inst.guest_ip != ip) {
        ip = inst.guest_ip;
        constexpr std::size_t column = 56;
        out_.append(line + column > out_.size() ? line + column - out_.size() : 1, ' ');
        append("@{:#x}", ip);
      }
      print_comment(inst);
      out_ += '\n';
    }
  }

  /// Prints the value of a float constant as a comment.
  void print_comment(const Inst& inst) {
    if (inst.op != Op::constant || !is_float(inst.type)) return;
    const double value = inst.type == Type::f16   ? to_float(Half{static_cast<std::uint16_t>(inst.imm)})
                         : inst.type == Type::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(inst.imm))
                                                  : std::bit_cast<double>(inst.imm);
    append(" ; {}", value);
  }

  const Function& function_;
  std::string& out_;
};

/// The text of an instruction without the numbers of values.
std::string text_without_values(const Function& function, const Inst& inst) {
  std::string out;
  write_inst(function, inst, out, false);
  return out;
}

class Comparison {
 public:
  Comparison(const Function& a, const Function& b)
      : a_(a), b_(b), partner_(a.values.size(), no_value), taken_(b.values.size()) {}

  std::string difference() {
    const auto head = [](const Function& f) {
      return fmt::format(
          "{} simd {} family {} file {} slot {} indirect {} flags {} masks {} at {} with {} blocks", f.name,
          f.simd, f.family, f.file_bytes, f.slot_bytes, f.indirect_bytes, f.flag_bits, f.mask_variables,
          fmt::join(f.park_ips, ","), f.blocks.size());
    };
    if (head(a_) != head(b_)) return fmt::format("{} and {}", head(a_), head(b_));
    for (std::size_t block = 0; block < a_.blocks.size(); ++block) {
      const Block &x = a_.blocks[block], &y = b_.blocks[block];
      const auto block_head = [](const Block& b) {
        return fmt::format("ip {:#x} count {}{} with {} instructions", b.guest_ip, b.guest_instructions,
                           b.safepoint ? " safepoint" : "", b.insts.size());
      };
      if (block_head(x) != block_head(y))
        return fmt::format("b{}: {} and {}", block, block_head(x), block_head(y));
      for (std::size_t i = 0; i < x.insts.size(); ++i)
        if (!same(x.insts[i], y.insts[i]))
          return fmt::format("b{} instruction {}: `{}` @{:#x} and `{}` @{:#x}", block, i,
                             print_inst(a_, x.insts[i]), x.insts[i].guest_ip, print_inst(b_, y.insts[i]),
                             y.insts[i].guest_ip);
    }
    return {};
  }

 private:
  bool same(const Inst& x, const Inst& y) {
    if (x.guest_ip != y.guest_ip || x.arg_count != y.arg_count || x.result_count != y.result_count)
      return false;
    if (text_without_values(a_, x) != text_without_values(b_, y)) return false;
    for (unsigned k = 0; k < x.arg_count; ++k)
      if (!same_use(a_.arg(x, k), b_.arg(y, k))) return false;
    if ((x.mask == no_value) != (y.mask == no_value)) return false;
    if (x.mask != no_value && !same_use(x.mask, y.mask)) return false;
    for (unsigned k = 0; k < x.result_count; ++k) {
      if (x.result + k >= partner_.size() || y.result + k >= taken_.size() || taken_[y.result + k])
        return false;
      partner_[x.result + k] = y.result + k;
      taken_[y.result + k] = true;
    }
    return true;
  }
  bool same_use(ValueId x, ValueId y) const {
    return x < partner_.size() && partner_[x] == y && y != no_value;
  }

  const Function& a_;
  const Function& b_;
  std::vector<ValueId> partner_;  // value of b_ that corresponds to each value of a_
  std::vector<bool> taken_;
};

}  // namespace

std::uint64_t lane_bits(Type type, unsigned lanes, std::uint64_t imm) {
  const unsigned bits = is_mask(type) ? lanes : 8 * size_of(type);
  return bits >= 64 ? imm : imm & ((std::uint64_t{1} << bits) - 1);
}

std::string print(const Function& function) {
  std::string out;
  Printer(function, out).print_function();
  return out;
}

std::string print_inst(const Function& function, const Inst& inst) {
  std::string out;
  write_inst(function, inst, out, true);
  return out;
}

std::string difference(const Function& a, const Function& b) { return Comparison(a, b).difference(); }

}  // namespace eum::ir
