// Parses the items of an instruction's form.
#include "frontend/visa/instruction_parser.hpp"

#include <limits>
#include <unordered_map>

#include "frontend/visa/expression.hpp"

namespace eum::visa {
namespace {

/// Operand count limit of the binary format; only jump tables come near it.
constexpr std::size_t max_operands = 255;

/// The names of opcodes in the text, including their older spellings.
const std::unordered_map<std::string_view, Opcode>& opcodes() {
  static const std::unordered_map<std::string_view, Opcode> table = [] {
    std::unordered_map<std::string_view, Opcode> all;
    for (std::size_t i = 0; i < opcode_count; ++i) {
      const auto opcode = static_cast<Opcode>(i);
      if (info(opcode).form->items()[0] != Item::LabelHere && opcode != Opcode::lsc &&
          opcode != Opcode::subroutine)
        all[opcode_table[i].text] = opcode;
    }
    all["FILE"] = Opcode::file;
    all["LOC"] = Opcode::loc;
    return all;
  }();
  return table;
}

bool find(std::string_view word, Opcode& opcode) {
  const auto found = opcodes().find(word);
  if (found == opcodes().end()) return false;
  opcode = found->second;
  return true;
}

}  // namespace

bool InstructionParser::instruction() {
  inst_ = {};
  suffixes_ = 0;
  inst_.location = in_.location();
  inst_.first_operand = static_cast<std::uint32_t>(kernel_.operands.size());
  if (!operands_.predicate(inst_.predicate)) return false;
  name_place_ = in_.location();
  word_ = in_.peek_word();
  if (word_.empty()) return in_.fail("an instruction, a label or a directive");
  if (word_.starts_with("lsc_")) {
    inst_.opcode = Opcode::lsc;
  } else {
    const bool known = find(word_, inst_.opcode);
    // Some names contain a '.'; after other names it begins a suffix.
    const std::string_view rest = in_.rest();
    if (rest.size() > word_.size() && rest[word_.size()] == '.' && (!known || inst_.opcode == Opcode::add3)) {
      std::size_t end = word_.size() + 1;
      while (end < rest.size() && is_word(rest[end])) ++end;
      if (Opcode dotted{}; find(rest.substr(0, end), dotted)) {
        inst_.opcode = dotted;
        word_ = rest.substr(0, end);
      } else if (!known) {
        return in_.fail("an instruction");
      }
    } else if (!known) {
      return in_.fail("an instruction");
    }
  }
  in_.advance(word_.size());
  const std::span<const Item> form = info(inst_.opcode).form->items();
  if (inst_.predicate.variable != no_variable && form[0] != Item::Predicate)
    return in_.fail_at(inst_.location, fmt::format("no predicate, which {} does not have", word_), "(");
  return items(form);
}

bool InstructionParser::label(std::string_view name, Location place) {
  inst_ = {};
  inst_.location = place;
  inst_.opcode = Opcode::label;
  inst_.first_operand = static_cast<std::uint32_t>(kernel_.operands.size());
  LabelId id = 0;
  if (!names_.define(name, static_cast<std::uint32_t>(kernel_.instructions.size()), id))
    return in_.fail_at(place, "a label that does not stand twice", name);
  Operand operand;
  operand.kind = OperandKind::Label;
  operand.variable = id;
  return push(operand) && finish();
}

bool InstructionParser::directive(Opcode opcode, Location place) {
  inst_ = {};
  suffixes_ = 0;
  inst_.location = place;
  inst_.opcode = opcode;
  inst_.first_operand = static_cast<std::uint32_t>(kernel_.operands.size());
  return items(info(opcode).form->items());
}

bool InstructionParser::items(std::span<const Item> items) {
  for (Item next : items)
    if (!item(next)) return false;
  return finish();
}

bool InstructionParser::finish() {
  inst_.operand_count = static_cast<std::uint16_t>(kernel_.operands.size() - inst_.first_operand);
  kernel_.instructions.push_back(inst_);
  return true;
}

bool InstructionParser::item(Item item) {
  if (item < Item::Saturate) return true;  // predicate and name have already been parsed
  if (item < Item::ExecSize) return name_suffix(item);
  if (item < Item::Dst) return number_item(item);
  if (item < Item::LabelList) return operand_item(item);
  return several(item);
}

bool InstructionParser::name_suffix(Item item) {
  switch (item) {
    case Item::Saturate:
      inst_.saturate = in_.accept(std::string_view(".sat"));
      return true;
    case Item::Condition: {
      if (!in_.expect('.')) return false;
      std::string word(in_.peek_word().substr(0, 3));
      for (char& c : word) c = static_cast<char>(c | 0x20);
      for (std::size_t i = 1; i < std::size(condition_names); ++i) {
        if (word != condition_names[i]) continue;
        inst_.condition = static_cast<Condition>(i);
        in_.word();
        return true;
      }
      return in_.fail("eq, ne, gt, ge, lt or le");
    }
    case Item::Channels:
      return channels();
    case Item::Number: {
      std::uint32_t value = 0;
      return in_.expect('.') && in_.number(value, std::numeric_limits<std::uint32_t>::max(), "a number") &&
             suffix(value);
    }
    case Item::BooleanFunction:
      return boolean_function();
    case Item::Precision:
      return in_.expect('.') && table_suffix(precisions, "a precision like s8 or bf");
    case Item::AtomicOperation:
      return in_.expect('.') && table_suffix(atomic_operations, "an atomic operation");
    case Item::AtomicWidth:
      return atomic_width();
    case Item::MediaMode:
      return in_.expect('.') && table_suffix(media_modes, "nomod, top or another mode");
    case Item::OutputFormat: {
      if (!in_.expect('.')) return false;
      for (const SuffixText& row : output_formats)
        if (in_.accept(row.text)) return suffix(row.value);
      return in_.fail("16-full, 16-downsampled, 8-full or 8-downsampled");
    }
    case Item::Alignment: {
      const bool aligned = in_.accept(std::string_view(".aligned"));
      if (!aligned) in_.accept(std::string_view(".unaligned"));
      return suffix(aligned);
    }
    case Item::Modified:
      return suffix(in_.accept(std::string_view(".mod")));
    case Item::FenceFlags:
      return fence_flags();
    case Item::CallFlags:
      return flag_suffixes(call_flags);
    case Item::SamplerFlags:
      return flag_suffixes(sampler_flags);
    case Item::TargetFlags:
      return target_flags();
    default:
      return false;
  }
}

bool InstructionParser::number_item(Item item) {
  constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value = 0, second = 0;
  switch (item) {
    case Item::ExecSize:
      return exec_size();
    case Item::Count: {
      if (!in_.expect('(')) return false;
      const Location place = in_.location();
      if (!in_.number(value, any, "a number")) return false;
      if (value == 0 || value > 16 || (value & (value - 1)) != 0)
        return in_.fail_at(place, "1, 2, 4, 8 or 16", std::to_string(value));
      return in_.expect(')') && suffix(value);
    }
    case Item::Pair:
      return in_.expect('(') && in_.number(value, any, "a number") && in_.expect(',') &&
             in_.number(second, any, "a number") && in_.expect(')') && suffix(value) && suffix(second);
    case Item::Plane: {
      // A number with a type is already the operand that follows the plane.
      const std::string_view rest = in_.rest();
      std::size_t end = 0;
      while (end < rest.size() && is_word(rest[end])) ++end;
      if (!in_.at_number() || (end < rest.size() && (rest[end] == ':' || rest[end] == '.'))) return suffix(0);
      return in_.number(value, 15, "a plane") && suffix(value);
    }
    case Item::Integer:
    case Item::HexInteger:
      return in_.number(value, any, "a number") && suffix(value);
    case Item::AvsControl:
      return table_suffix(avs_controls, "AVS_16_FULL or another control");
    case Item::AvsMode:
      return table_suffix(avs_modes, "AVS_16x8 or another mode");
    default:
      return false;
  }
}

bool InstructionParser::operand_item(Item item) {
  Operand operand;
  switch (item) {
    case Item::SrcLikeDst: {
      const bool predicates = kernel_.operands[inst_.first_operand].kind == OperandKind::Predicate;
      return vector(predicates ? kinds(OperandKind::Predicate) : accepted(item), false);
    }
    case Item::Simple:
      return operands_.simple(operand) && push(operand);
    case Item::Raw:
      return operands_.raw(false, operand) && push(operand);
    case Item::Surface:
      return operands_.name(VariableKind::Surface, false, operand) && push(operand);
    case Item::SurfaceOrPointer:
      return operands_.name(VariableKind::Surface, true, operand) && push(operand);
    case Item::Sampler:
      return operands_.name(VariableKind::Sampler, false, operand) && push(operand);
    case Item::Variable:
      return operands_.any_name(operand) && push(operand);
    case Item::Label:
      return label_operand();
    case Item::Function:
    case Item::Text:
    case Item::FunctionHere: {
      std::string text;
      const bool name = item != Item::Text;
      if (!(name ? operands_.word_or_string("the name of a function", text) : in_.quoted(text))) return false;
      operand.kind = name ? OperandKind::Function : OperandKind::Text;
      operand.variable = static_cast<VariableId>(kernel_.strings.size());
      kernel_.strings.push_back(std::move(text));
      return push(operand);
    }
    default:
      return vector(accepted(item), is_destination(item));
  }
}

bool InstructionParser::several(Item item) {
  constexpr KindSet source = accepted(Item::Src);
  switch (item) {
    case Item::LabelList:
      if (!in_.expect('(')) return false;
      while (!in_.accept(')')) {
        if (!label_operand()) return false;
        in_.accept(',');
      }
      return true;
    case Item::RawList:
      while (!in_.at_line_end()) {
        Operand operand;
        if (!operands_.raw(false, operand) || !push(operand)) return false;
      }
      return true;
    case Item::TargetList:
      while (!in_.at_line_end()) {
        const std::string_view rest = in_.rest();
        const std::size_t name = in_.peek_name().size();
        Operand operand;
        const bool raw = name != 0 && name < rest.size() && rest[name] == '.';
        if (!(raw ? operands_.raw(false, operand)
                  : operands_.vector(accepted(Item::SrcDirect), false, operand)) ||
            !push(operand))
          return false;
      }
      return true;
    case Item::OptionalSrcPair:
      return in_.at_line_end() || (vector(source, false) && vector(source, false));
    case Item::SrcTriple:
      return in_.expect('(') && vector(source, false) && in_.expect(',') && vector(source, false) &&
             in_.expect(',') && vector(source, false) && in_.expect(')');
    case Item::Lsc:
      return lsc();
    default:
      return false;
  }
}

bool InstructionParser::lsc() {
  Lsc lsc;
  LscOperands operands{};
  if (!lsc_.name(word_, name_place_, lsc)) return false;
  const bool sized = has_exec_size(info(lsc.op).shape, lsc.unit);
  if (sized ? !exec_size() : false) return false;
  if (!sized) inst_.no_mask = true;
  if (!lsc_.operands(lsc, operands)) return false;
  inst_.lsc = static_cast<std::uint32_t>(kernel_.lsc.size());
  kernel_.lsc.push_back(lsc);
  kernel_.operands.insert(kernel_.operands.end(), operands.begin(), operands.end());
  return true;
}

bool InstructionParser::suffix(std::uint32_t value) {
  inst_.suffix[suffixes_++] = value;
  return true;
}

bool InstructionParser::table_suffix(std::span<const SuffixText> table, std::string_view what) {
  // A suffix may start with a digit and contain capital letters.
  const std::string_view text = in_.rest();
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  auto value = suffix_value(table, text.substr(0, end));
  if (!value && end < 16) {
    std::string lower(text.substr(0, end));
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    value = suffix_value(table, lower);
  }
  if (!value) return in_.fail(what);
  in_.advance(end);
  return suffix(*value);
}

bool InstructionParser::flag_suffixes(std::span<const SuffixText> table) {
  std::uint32_t set = 0;
  while (in_.peek() == '.') {
    const std::string_view rest = in_.rest().substr(1);
    std::size_t end = 0;
    while (end < rest.size() && is_word(rest[end])) ++end;
    const auto flag = suffix_value(table, rest.substr(0, end));
    if (!flag || (set & *flag) != 0) break;
    set |= *flag;
    in_.advance(end + 1);
  }
  return suffix(set);
}

bool InstructionParser::fence_flags() {
  std::uint32_t set = 0;
  if (in_.accept('.')) {
    for (const SuffixText& row : eum::visa::fence_flags)
      if (in_.accept(row.text)) set |= row.value;
    if (set == 0) return in_.fail("flags out of E, I, S, C, R and L1, in this order");
  }
  return suffix(set);
}

bool InstructionParser::target_flags() {
  std::uint32_t set = 0;
  if (in_.accept('.')) {
    while (in_.accept('<')) {
      const auto flag = suffix_value(eum::visa::target_flags, in_.peek_word());
      if (!flag) return in_.fail("a flag of render targets");
      set |= *flag;
      in_.word();
      if (!in_.expect('>')) return false;
    }
    if (set == 0) return in_.fail("'<'");
  }
  return suffix(set);
}

bool InstructionParser::channels() {
  if (!in_.expect('.')) return false;
  const std::string_view word = in_.peek_word();
  std::uint32_t mask = 0;
  std::size_t next = 0;
  for (char c : word) {
    const std::size_t channel = channel_letters.find(static_cast<char>(c & ~0x20));
    if (channel == std::string_view::npos || channel < next) return in_.fail("channels out of RGBA");
    mask |= 1u << channel;
    next = channel + 1;
  }
  if (mask == 0) return in_.fail("channels out of RGBA");
  in_.advance(word.size());
  return suffix(mask);
}

bool InstructionParser::boolean_function() {
  if (!in_.expect('.')) return false;
  const std::string_view word = in_.peek_word();
  std::uint32_t value = 0;
  bool good = word.size() >= 2 && word.size() <= 3 && word[0] == 'x';
  for (std::size_t i = 1; good && i < word.size(); ++i) {
    const char c = static_cast<char>(word[i] | 0x20);
    good = is_digit(c) || (c >= 'a' && c <= 'f');
    value = value << 4 | static_cast<std::uint32_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  if (!good) return in_.fail("x and two hexadecimal digits");
  in_.advance(word.size());
  return suffix(value);
}

bool InstructionParser::atomic_width() {
  std::uint32_t bits = 32;
  if (in_.accept('.')) {
    const Location place = in_.location();
    if (!in_.number(bits, 64, "16, 32 or 64")) return false;
    const bool wide = inst_.opcode == Opcode::svm_atomic;
    if (bits != 16 && (!wide || (bits != 32 && bits != 64)))
      return in_.fail_at(place, wide ? "16, 32 or 64" : "16", std::to_string(bits));
  }
  return suffix(bits);
}

bool InstructionParser::exec_size() {
  if (!in_.expect('(')) return false;
  if (!in_.at_number()) {
    const Location place = in_.location();
    const std::string_view mask = in_.word();
    const bool group = mask.size() >= 2 && mask[0] == 'M' && mask[1] >= '1' && mask[1] <= '8' &&
                       (mask.size() == 2 || mask.substr(2) == "_NM");
    if (!group && mask != "NoMask") return in_.fail_at(place, "M1 to M8, M1_NM to M8_NM or NoMask");
    inst_.no_mask = mask.size() > 2;
    inst_.channel_offset = group ? static_cast<std::uint8_t>((mask[1] - '1') * 4) : std::uint8_t{0};
    if (!in_.expect(',')) return false;
  }
  const Location place = in_.location();
  std::uint32_t size = 0;
  if (!in_.number(size, 32, "an execution size")) return false;
  if (size == 0 || (size & (size - 1)) != 0)
    return in_.fail_at(place, "an execution size of 1, 2, 4, 8, 16 or 32", std::to_string(size));
  if (inst_.channel_offset + size > 32)
    return in_.fail_at(place,
                       fmt::format("at most the {} channels from this mask on", 32 - inst_.channel_offset),
                       std::to_string(size));
  inst_.exec_size = static_cast<std::uint8_t>(size);
  return in_.expect(')');
}

bool InstructionParser::vector(KindSet set, bool destination) {
  Operand operand;
  return operands_.vector(set, destination, operand) && push(operand);
}

bool InstructionParser::label_operand() {
  const Location place = in_.location();
  Operand operand;
  operand.kind = OperandKind::Label;
  if (in_.peek() == '"') {
    const std::string_view rest = in_.rest().substr(1);
    const std::string_view name = rest.substr(0, rest.find_first_of("\"\\\n"));
    if (name.size() >= rest.size() || rest[name.size()] != '"') return in_.fail("a label");
    in_.advance(name.size() + 2);
    operand.variable = names_.refer(name, place);
    return push(operand);
  }
  const std::string_view word = in_.word();
  if (word.empty()) return in_.fail("a label");
  operand.variable = names_.refer(word, place);
  return push(operand);
}

bool InstructionParser::push(const Operand& operand) {
  if (kernel_.operands.size() - inst_.first_operand >= max_operands)
    return in_.fail(fmt::format("at most {} operands", max_operands));
  kernel_.operands.push_back(operand);
  return true;
}

}  // namespace eum::visa
