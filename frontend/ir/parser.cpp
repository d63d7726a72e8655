// The grammar of frontend/ir/printer.hpp, line by line.
#include "frontend/ir/parser.hpp"

#include <bit>
#include <charconv>
#include <unordered_map>

#include "frontend/ir/cursor.hpp"
#include "frontend/ir/lane.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/signature.hpp"
#include "frontend/ir/verifier.hpp"

namespace eum::ir {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Result<Function> parse_function() {
    in_.skip_lines();
    bool good = parse_head();
    while (good && !in_.at_text_end()) good = parse_block();
    if (!good) return in_.error();
    return std::move(function_);
  }

 private:
  bool parse_head() {
    return in_.keyword("kernel") && in_.expect('@') && in_.word_or_quoted("a name", function_.name) &&
           in_.keyword("simd") && in_.number(function_.simd) && in_.keyword("family") &&
           in_.word_or_quoted("a family", function_.family) && in_.keyword("file") &&
           in_.number(function_.file_bytes) && in_.keyword("slot") && in_.number(function_.slot_bytes) &&
           in_.keyword("masks") && in_.number(function_.mask_variables) && in_.line_end();
  }

  bool parse_block() {
    const std::size_t number = function_.blocks.size();
    const std::string label = fmt::format("b{}", number);
    std::uint32_t ip = 0, count = 0;
    if (!in_.keyword(label) || !in_.expect(':') || !in_.keyword("ip") || !in_.number(ip) ||
        !in_.keyword("count") || !in_.number(count) || !in_.line_end())
      return false;
    block_ = function_.add_block(ip);
    function_.blocks[block_].guest_instructions = count;
    ip_ = ip;
    values_.clear();
    const std::string next_label = fmt::format("b{}", number + 1);
    while (!in_.at_text_end() && in_.peek_word() != next_label)
      if (!parse_line()) return false;
    return true;
  }

  bool parse_line() {
    Inst inst;
    std::vector<std::string> results;
    if (in_.next_is('%')) {
      do {
        if (!value_name(results.emplace_back())) return false;
      } while (in_.accept(','));
      if (!in_.expect('=')) return false;
    }
    if (!parse_op(inst) || !parse_operands(inst)) return false;
    if (in_.accept('?') && !use(inst.mask)) return false;
    if (in_.accept('@') && !in_.number(ip_)) return false;
    inst.guest_ip = ip_;
    if (!define(inst, results)) return false;
    function_.blocks[block_].insts.push_back(inst);
    return in_.line_end();
  }

  bool parse_op(Inst& inst) {
    const std::string_view name = in_.peek_word();
    const auto op = ir::parse_op(name);
    if (!op) return in_.fail("an op");
    in_.word("an op");
    inst.op = *op;
    const ShapeInfo shape = info(info(inst.op).shape);
    if (!shape.typed) return true;
    if (!in_.expect('.')) return false;
    const std::string_view first = in_.peek_word();
    if (const auto type = parse_type(first)) {  // type.from x lanes
      in_.word("a type");
      inst.type = *type;
      has_from_ = true;
      return in_.expect('.') && parse_type_and_lanes(inst.from, inst.lanes);
    }
    has_from_ = false;
    return parse_type_and_lanes(inst.type, inst.lanes);
  }

  bool parse_type_and_lanes(Type& type, std::uint8_t& lanes) {
    const std::string_view word = in_.peek_word();
    const std::size_t x = word.find('x');
    const auto found = parse_type(word.substr(0, x));
    if (!found || x == std::string_view::npos) return in_.fail("a type, x and a number of lanes, as f32x16");
    type = *found;
    const auto number = Cursor::parse_number(word.substr(x + 1));
    if (!number || *number < 1 || *number > max_lanes)
      return in_.fail(fmt::format("1 to {} lanes after a type", max_lanes));
    lanes = static_cast<std::uint8_t>(*number);
    in_.word("a type");
    return true;
  }

  bool parse_operands(Inst& inst) {
    const Shape kind = info(inst.op).shape;
    const ShapeInfo shape = info(kind);
    first_item_ = true;
    if (!parse_attribute(inst, shape, kind)) return false;
    const unsigned wanted = signature(inst).arg_count;
    if (wanted > max_args) return in_.fail(fmt::format("at most {} operands", max_args));
    while (inst.arg_count < wanted)
      if (!item() || !use(inst.args[inst.arg_count++])) return false;
    if (shape.has_from && !has_from_) inst.from = function_.values[inst.args[0]].type;
    if (shape.attribute == Attribute::Lane || shape.attribute == Attribute::Group ||
        shape.attribute == Attribute::Number)
      if (!item() || !in_.number(inst.imm)) return false;
    if (shape.attribute == Attribute::Targets) inst.targets = {};
    if (shape.targets >= 1 && (!item() || !in_.numbered("b", no_block - 1, inst.targets.taken))) return false;
    if (shape.targets >= 2 && (!item() || !in_.numbered("b", no_block - 1, inst.targets.fallthrough)))
      return false;
    return true;
  }

  /// What separates an operand or attribute from the one before it.
  bool item() {
    if (!first_item_) return in_.expect(',');
    first_item_ = false;
    return true;
  }

  bool parse_attribute(Inst& inst, const ShapeInfo& shape, Shape kind) {
    switch (shape.attribute) {
      case Attribute::Bits:
        return item() && parse_lane_value(inst.type, inst.lanes, inst.imm);
      case Attribute::Pool:
        return item() && parse_pool(inst);
      case Attribute::String:
        inst.imm = function_.strings.size();
        return item() && in_.quoted(function_.strings.emplace_back());
      case Attribute::Flag:
        return item() && parse_flag(inst.imm);
      case Attribute::Variable:
        return item() && in_.numbered("mask", max_mask_variables, inst.imm);
      case Attribute::Region:
        inst.region = {};
        return item() && parse_region(inst.region, size_of(inst.type));
      case Attribute::Mem:
        return item() && parse_mem(inst, kind);
      case Attribute::None:
        if (kind != Shape::RegGather && kind != Shape::RegScatter) return true;
        return item() && in_.expect('[') && use(inst.args[inst.arg_count++]) && in_.expect(']');
      case Attribute::Lane:
      case Attribute::Group:
      case Attribute::Number:
      case Attribute::Targets:
        return true;
    }
    return true;
  }

  /// Bits, a negative integer, or for floats a decimal fraction.
  bool parse_lane_value(Type type, unsigned lanes, std::uint64_t& bits) {
    const Cursor before = in_;
    std::string_view run = in_.run();
    std::optional<std::uint64_t> value = Cursor::parse_number(run);
    if (!value && !is_float(type) && run.starts_with('-')) {
      value = Cursor::parse_number(run.substr(1));
      if (value) value = ~*value + 1;
    }
    double number = 0;
    if (!value && is_float(type) && !run.empty()) {
      const auto end = std::from_chars(run.data(), run.data() + run.size(), number);
      if (end.ec == std::errc{} && end.ptr == run.data() + run.size()) {
        const auto narrow = static_cast<float>(number);
        value = type == Type::f64   ? std::bit_cast<std::uint64_t>(number)
                : type == Type::f32 ? std::bit_cast<std::uint32_t>(narrow)
                                    : to_half(narrow).bits;
      }
    }
    if (!value) {
      in_ = before;
      return in_.fail("a value");
    }
    bits = lane_bits(type, lanes, *value);
    return true;
  }

  bool parse_pool(Inst& inst) {
    if (!in_.expect('{')) return false;
    PoolEntry entry{};
    for (unsigned lane = 0; lane < inst.lanes; ++lane)
      if ((lane != 0 && !in_.expect(',')) || !parse_lane_value(inst.type, 1, entry[lane])) return false;
    inst.imm = function_.pool.size();
    function_.pool.push_back(entry);
    return in_.expect('}');
  }

  bool parse_flag(std::uint64_t& bit) {
    if (in_.peek_word() == "flag")
      return in_.keyword("flag") && in_.expect('[') && in_.number(bit, flag_bits - 1) && in_.expect(']');
    unsigned flag = 0, half = 0;
    if (!in_.numbered("f", flag_bits / 32 - 1, flag) || !in_.expect('.') || !in_.number(half, 1))
      return false;
    bit = 32 * flag + 16 * half;
    return true;
  }

  bool parse_region(Region& region, unsigned bytes) {
    std::uint64_t offset = 0;
    if (in_.peek_word() == "reg") {
      if (!in_.keyword("reg") || !in_.expect('[') || !in_.number(offset, max_file_bytes - 1) ||
          !in_.expect(']'))
        return false;
    } else {
      std::uint64_t element = 0;
      if (!in_.numbered("r", max_file_bytes, offset)) return false;
      if (in_.accept('.') && !in_.number(element, max_file_bytes)) return false;
      offset = offset * function_.slot_bytes + element * bytes;
      if (offset >= max_file_bytes)
        return in_.fail(fmt::format("a register within {} bytes, before this", max_file_bytes));
    }
    region.offset = static_cast<std::uint16_t>(offset);
    return in_.expect('<') && in_.number(region.vstride) && in_.expect(';') && in_.number(region.width) &&
           in_.expect(',') && in_.number(region.hstride) && in_.expect('>');
  }

  bool parse_mem(Inst& inst, Shape kind) {
    inst.mem = {};
    MemRef& mem = inst.mem;
    if (kind == Shape::Atomic) {
      const auto atomic = mem::parse_atomic(in_.peek_word());
      if (!atomic) return in_.fail("an atomic operation");
      in_.word("an atomic operation");
      mem.atomic = *atomic;
    }
    const std::string_view space = in_.peek_word();
    if (space == "a64" || space == "a32" || space == "scratch" || space == "slm") {
      in_.word("a memory space");
      mem.space = space == "a64"   ? MemSpace::A64
                  : space == "a32" ? MemSpace::A32
                  : space == "slm" ? MemSpace::Surface
                                   : MemSpace::Scratch;
      if (space == "slm") mem.surface = slm_surface;
    } else if (space.starts_with("surface")) {
      if (!in_.numbered("surface", 255, mem.surface)) return false;
    } else {
      return in_.fail("a64, a32, scratch, slm or surface and its number");
    }
    if (!in_.expect('[') || !use(inst.args[inst.arg_count++]) || !in_.expect(']')) return false;
    if (!in_.accept('{')) return true;
    mem.components = 0;
    do {
      unsigned component = 0;
      if (!in_.number(component, 7)) return false;
      mem.components = static_cast<std::uint8_t>(mem.components | 1u << component);
    } while (in_.accept(','));
    return in_.expect('}');
  }

  bool value_name(std::string& name) {
    if (!in_.expect('%')) return false;
    name = in_.word("the name of a value");
    return !in_.failed();
  }

  bool use(ValueId& value) {
    const Cursor before = in_;
    std::string name;
    if (!value_name(name)) return false;
    const auto found = values_.find(name);
    if (found == values_.end()) {
      in_ = before;
      return in_.fail("a value defined before in this block");
    }
    value = found->second;
    return true;
  }

  bool define(Inst& inst, const std::vector<std::string>& names) {
    const Signature wanted = signature(inst);
    if (names.size() < wanted.min_results || names.size() > wanted.max_results)
      return in_.fail(fmt::format("{} results of {}, not {}, before this", wanted.max_results,
                                  op_name(inst.op), names.size()));
    inst.result_count = static_cast<std::uint8_t>(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
      const ValueId value = function_.add_value(wanted.result.type, wanted.result.lanes);
      if (k == 0) inst.result = value;
      if (!values_.emplace(names[k], value).second)
        return in_.fail(fmt::format("a new name instead of %{}, before this", names[k]));
    }
    return true;
  }

  Cursor in_;
  Function function_;
  std::unordered_map<std::string, ValueId> values_;  // of the block
  BlockId block_ = 0;
  std::uint32_t ip_ = 0;
  bool has_from_ = false;
  bool first_item_ = true;
};

}  // namespace

Result<Function> parse(std::string_view text) { return Parser(text).parse_function(); }

}  // namespace eum::ir
