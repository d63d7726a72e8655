// The grammar of frontend/ir/printer.hpp, line by line.
#include "frontend/ir/parser.hpp"

#include <algorithm>
#include <unordered_map>

#include "frontend/ir/attribute.hpp"
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
           (in_.peek_word() != "indirect" ||
            (in_.keyword("indirect") && in_.number(function_.indirect_bytes))) &&
           (in_.peek_word() != "flags" ||
            (in_.keyword("flags") && in_.number(function_.flag_bits, max_flag_bits))) &&
           in_.keyword("masks") && in_.number(function_.mask_variables) && parse_park_ips() && in_.line_end();
  }
  bool parse_park_ips() {
    if (in_.peek_word() != "at") return true;
    in_.word("at");
    do {
      if (!in_.number(function_.park_ips.emplace_back())) return false;
    } while (in_.accept(','));
    return true;
  }

  bool parse_block() {
    const std::size_t number = function_.blocks.size();
    const std::string label = fmt::format("b{}", number);
    std::uint32_t ip = 0, count = 0;
    if (!in_.keyword(label) || !in_.expect(':') || !in_.keyword("ip") || !in_.number(ip) ||
        !in_.keyword("count") || !in_.number(count))
      return false;
    const bool safepoint = in_.peek_word() == "safepoint";
    if (safepoint) in_.word("safepoint");
    if (!in_.line_end()) return false;
    block_ = function_.add_block(ip);
    function_.blocks[block_].safepoint = safepoint;
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
    if (!shape_of(inst.op).typed()) return true;
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
    using Place = AttributeInfo::Place;
    const ShapeInfo& shape = shape_of(inst.op);
    const AttributeInfo& attribute = info(shape.attribute);
    args_.clear();
    InstReader reader{in_, function_, inst, args_, [this](ValueId& value) { return use(value); }};
    if (attribute.place == Place::First && !attribute.parse(reader)) return false;
    if (shape.any_operands()) {
      while (in_.next_is(reader.first_item ? '%' : ','))
        if (!reader.item() || !reader.next_value()) return false;
    } else {
      const unsigned wanted = Signature(function_, inst).operands();
      while (args_.size() < wanted)
        if (!reader.item() || !reader.next_value()) return false;
    }
    if (shape.has_from() && !has_from_) inst.from = function_.values[args_[0]].type;
    function_.set_args(inst, args_);
    return attribute.place != Place::Last || attribute.parse(reader);
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
    inst.result_count = static_cast<std::uint16_t>(std::min<std::size_t>(names.size(), 0xffff));
    const Signature wanted(function_, inst);
    if (names.size() < wanted.min_results() || names.size() > wanted.max_results())
      return in_.fail(fmt::format("{} results of {}, not {}, before this", wanted.max_results(),
                                  op_name(inst.op), names.size()));
    for (std::size_t k = 0; k < names.size(); ++k) {
      const ValueInfo info = wanted.result(static_cast<unsigned>(k));
      const ValueId value = function_.add_value(info.type, info.lanes);
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
  std::vector<ValueId> args_;
};

}  // namespace

Result<Function> parse(std::string_view text) { return Parser(text).parse_function(); }

}  // namespace eum::ir
