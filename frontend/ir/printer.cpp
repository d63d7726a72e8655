// Functions as text, and their comparison.
#include "frontend/ir/printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "frontend/ir/lane.hpp"
#include "frontend/ir/signature.hpp"

namespace eum::ir {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// A quoted string; bytes that are not printable ASCII as \xNN.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (c >= ' ' && c <= '~')
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + '"';
}

std::string word_or_quoted(std::string_view text) { return is_word(text) ? std::string(text) : quoted(text); }

class Printer {
 public:
  Printer(const Function& function, std::string& out) : function_(function), out_(out) {}

  void print_function() {
    append("kernel @{} simd {} family {} file {} slot {} masks {}\n", word_or_quoted(function_.name),
           function_.simd, word_or_quoted(function_.family), function_.file_bytes, function_.slot_bytes,
           function_.mask_variables);
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) print_block(b);
  }

  void print_inst(const Inst& inst) {
    for (unsigned k = 0; k < inst.result_count; ++k) append("{}%{}", k == 0 ? "" : ", ", inst.result + k);
    if (inst.result_count != 0) out_ += " = ";
    out_ += op_name(inst.op);
    const Shape kind = info(inst.op).shape;
    const ShapeInfo shape = info(kind);
    if (shape.typed) {
      append(".{}", info(inst.type).name);
      if (kind == Shape::Convert || kind == Shape::IntToMask) append(".{}", info(inst.from).name);
      append("x{}", inst.lanes);
    }
    separator_ = " ";
    unsigned next_arg = 0;
    print_attribute(inst, shape, kind, next_arg);
    for (; next_arg < inst.arg_count && next_arg < max_args; ++next_arg) item("%{}", inst.args[next_arg]);
    if (kind == Shape::Slice || kind == Shape::MaskGroup || kind == Shape::SystemCall) item("{}", inst.imm);
    if (shape.targets >= 1) item("b{}", inst.targets.taken);
    if (shape.targets >= 2) item("b{}", inst.targets.fallthrough);
    if (inst.mask != no_value) append(" ? %{}", inst.mask);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void item(fmt::format_string<Args...> format, Args&&... args) {
    out_ += separator_;
    append(format, std::forward<Args>(args)...);
    separator_ = ", ";
  }

  void print_block(std::size_t b) {
    const Block& block = function_.blocks[b];
    append("b{}: ip {:#x} count {}\n", b, block.guest_ip, block.guest_instructions);
    std::uint32_t ip = block.guest_ip;
    for (const Inst& inst : block.insts) {
      const std::size_t line = out_.size();
      out_ += "  ";
      print_inst(inst);
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

  /// The value of a float constant.
  void print_comment(const Inst& inst) {
    if (info(inst.op).shape != Shape::Constant || !is_float(inst.type)) return;
    const double value = inst.type == Type::f16   ? to_float(Half{static_cast<std::uint16_t>(inst.imm)})
                         : inst.type == Type::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(inst.imm))
                                                  : std::bit_cast<double>(inst.imm);
    append(" ; {}", value);
  }

  void print_attribute(const Inst& inst, const ShapeInfo& shape, Shape kind, unsigned& next_arg) {
    switch (shape.attribute) {
      case Attribute::Bits:
        return item("{:#x}", lane_bits(inst.type, inst.lanes, inst.imm));
      case Attribute::Pool:
        return print_pool(inst);
      case Attribute::String:
        return item("{}", inst.imm < function_.strings.size() ? quoted(function_.strings[inst.imm]) : "?");
      case Attribute::Flag:
        if (inst.imm % 16 == 0 && inst.imm < 64) return item("f{}.{}", inst.imm / 32, inst.imm / 16 % 2);
        return item("flag[{}]", inst.imm);
      case Attribute::Variable:
        return item("mask{}", inst.imm);
      case Attribute::Region:
        return print_region(inst.region, size_of(inst.type));
      case Attribute::Mem:
        return print_mem(inst, kind, next_arg);
      case Attribute::None:
        if (kind == Shape::RegGather || kind == Shape::RegScatter) item("[%{}]", inst.args[next_arg++]);
        return;
      case Attribute::Lane:
      case Attribute::Group:
      case Attribute::Number:
      case Attribute::Targets:
        return;
    }
  }

  void print_pool(const Inst& inst) {
    item("{{");
    separator_ = "";
    if (inst.imm < function_.pool.size())
      for (unsigned lane = 0; lane < inst.lanes && lane < max_lanes; ++lane)
        item("{:#x}", lane_bits(inst.type, 1, function_.pool[inst.imm][lane]));
    out_ += '}';
  }

  void print_region(const Region& region, unsigned bytes) {
    const unsigned slot = function_.slot_bytes;
    if (slot == 0 || bytes == 0 || slot % bytes != 0 || region.offset % bytes != 0) {
      item("reg[{}]", region.offset);
    } else {
      item("r{}", region.offset / slot);
      if (region.offset % slot != 0) append(".{}", region.offset % slot / bytes);
    }
    append("<{};{},{}>", region.vstride, region.width, region.hstride);
  }

  void print_mem(const Inst& inst, Shape kind, unsigned& next_arg) {
    const MemRef& mem = inst.mem;
    if (kind == Shape::Atomic) {
      item("{}", static_cast<std::size_t>(mem.atomic) < mem::atomic_table.size() ? mem::info(mem.atomic).name
                                                                                 : "?");
      separator_ = " ";
    }
    switch (mem.space) {
      case MemSpace::Surface:
        if (mem.surface == slm_surface)
          item("slm");
        else
          item("surface{}", mem.surface);
        break;
      case MemSpace::A64:
        item("a64");
        break;
      case MemSpace::A32:
        item("a32");
        break;
      case MemSpace::Scratch:
        item("scratch");
        break;
    }
    append("[%{}]", inst.args[next_arg++]);
    if (mem.components == 1) return;
    out_ += " {";
    const char* separator = "";
    for (unsigned component = 0; component < 8; ++component) {
      if ((mem.components >> component & 1) == 0) continue;
      append("{}{}", separator, component);
      separator = ", ";
    }
    out_ += '}';
  }

  const Function& function_;
  std::string& out_;
  const char* separator_ = "";
};

/// What an attribute says, with pool entries and strings in place of their numbers.
std::string attribute_text(const Function& function, Inst inst) {
  // Values are compared apart.
  inst.args.fill(0);
  inst.mask = no_value;
  inst.result = 0;
  return print_inst(function, inst);
}

class Comparison {
 public:
  Comparison(const Function& a, const Function& b)
      : a_(a), b_(b), partner_(a.values.size(), no_value), taken_(b.values.size()) {}

  std::string difference() {
    const auto head = [](const Function& f) {
      return fmt::format("{} simd {} family {} file {} slot {} masks {} with {} blocks", f.name, f.simd,
                         f.family, f.file_bytes, f.slot_bytes, f.mask_variables, f.blocks.size());
    };
    if (head(a_) != head(b_)) return fmt::format("{} and {}", head(a_), head(b_));
    for (std::size_t block = 0; block < a_.blocks.size(); ++block) {
      const Block &x = a_.blocks[block], &y = b_.blocks[block];
      const auto block_head = [](const Block& b) {
        return fmt::format("ip {:#x} count {} with {} instructions", b.guest_ip, b.guest_instructions,
                           b.insts.size());
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
    if (attribute_text(a_, x) != attribute_text(b_, y)) return false;
    for (unsigned k = 0; k < x.arg_count; ++k)
      if (!same_use(x.args[k], y.args[k])) return false;
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
  std::vector<ValueId> partner_;  // of each value of a_, in b_
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
  Printer(function, out).print_inst(inst);
  return out;
}

std::string difference(const Function& a, const Function& b) { return Comparison(a, b).difference(); }

}  // namespace eum::ir
