// Parses the text of lsc instructions (vISA documents LSC_UNTYPED, LSC_TYPED, LSC_FENCE).
#include "frontend/visa/lsc_parser.hpp"

#include <algorithm>
#include <unordered_map>

#include "frontend/visa/expression.hpp"

namespace eum::visa {
namespace {

constexpr std::string_view prefix = "lsc_";

const std::unordered_map<std::string_view, LscOp>& ops() {
  static const std::unordered_map<std::string_view, LscOp> table = [] {
    std::unordered_map<std::string_view, LscOp> all;
    for (std::size_t i = 0; i < lsc_op_count; ++i) all[lsc_op_table[i].text] = static_cast<LscOp>(i);
    return all;
  }();
  return table;
}

constexpr Operand& at(LscOperands& operands, LscOperand place) {
  return operands[static_cast<std::size_t>(place)];
}
constexpr LscOperand address_place(std::size_t i) {
  return static_cast<LscOperand>(static_cast<std::size_t>(LscOperand::Address0) + i);
}

std::string list(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) {
    if (name.empty()) continue;
    if (!text.empty()) text += name == names.back() ? " or " : ", ";
    text += name;
  }
  return text;
}

template <class Enum>
bool find(std::span<const std::string_view> names, std::string_view text, Enum& out) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != text || text.empty()) continue;
    out = static_cast<Enum>(i);
    return true;
  }
  return false;
}

}  // namespace

template <class Enum>
bool LscParser::suffix(std::span<const std::string_view> names, std::string_view what, Enum& out) {
  if (!in_.expect('.')) return false;
  const std::string_view word = in_.peek_word();
  if (!find(names, word, out)) return in_.fail(fmt::format("{}: {}", what, list(names)));
  in_.advance(word.size());
  return true;
}

bool LscParser::name(std::string_view word, Location place, Lsc& lsc) {
  const auto found = ops().find(word.substr(prefix.size()));
  if (found == ops().end()) return in_.fail_at(place, "an lsc instruction");
  lsc.op = found->second;
  const LscShape shape = info(lsc.op).shape;
  if (!suffix(lsc_unit_names, "a unit", lsc.unit)) return false;
  if (lsc.unit == LscUnit::urb) return in_.fail_at(place, "a unit of memory", "urb");
  if (!unit_has(lsc.unit, shape))
    return in_.fail_at(
        place, fmt::format("an operation of {}", lsc_unit_names[static_cast<std::size_t>(lsc.unit)]), word);
  if (shape == LscShape::Fence)
    return suffix(lsc_fence_names, "an operation", lsc.fence) &&
           suffix(lsc_scope_names, "a scope", lsc.scope);
  if (in_.peek() != '.') return true;
  if (!suffix(lsc_caching_names, "a caching mode", lsc.l1)) return false;
  return in_.peek() != '.' || suffix(lsc_caching_names, "a caching mode", lsc.l3);
}

bool LscParser::operands(Lsc& lsc, LscOperands& out) {
  using enum LscShape;
  Operand& data0 = at(out, LscOperand::Data0);
  Operand& dst = at(out, LscOperand::Dst);
  const LscShape shape = info(lsc.op).shape;
  switch (shape) {
    case Fence:
      return true;
    case ReadStateInfo:
      if (!operands_.raw(true, dst) || !model(lsc, out)) return false;
      if (!in_.accept('[')) return true;
      return operands_.raw(true, at(out, LscOperand::Address0)) && in_.expect(']');
    case AppendCounter: {
      Lsc source;
      if (!data(lsc, dst) || !model(lsc, out)) return false;
      const Location place = in_.location();
      source.op = lsc.op;
      if (!data(source, data0)) return false;
      const bool same = source.data_size == lsc.data_size && source.elements == lsc.elements &&
                        source.transposed == lsc.transposed && source.channel_mask == lsc.channel_mask;
      return same || in_.fail_at(place, "data of the destination's shape", "another shape");
    }
    case Atomic:
      return data(lsc, dst) && address(lsc, out) && operands_.raw(true, data0) &&
             operands_.raw(true, at(out, LscOperand::Data1));
    default:
      if (is_store(shape)) return address(lsc, out) && data(lsc, data0);
      return data(lsc, dst) && address(lsc, out);
  }
}

bool LscParser::data(Lsc& lsc, Operand& out) {
  return operands_.raw(true, out) && in_.expect(':') && data_shape(lsc);
}

bool LscParser::data_shape(Lsc& lsc) {
  const LscShape shape = info(lsc.op).shape;
  if (is_block2d(shape) && is_typed(lsc.unit)) return typed_block_shape(lsc);
  // d32x4t: words may have digits, so the size and what may follow it are lexed as one word.
  std::string_view word = in_.peek_word();
  const std::size_t end = word.find_first_of("xt");
  std::string size(word.substr(0, end));
  if (size.starts_with('u')) size[0] = 'd';
  if (const std::size_t c = size.find('c'); c != std::string::npos) size[c] = 'u';
  if (!find(lsc_data_size_names, size, lsc.data_size))
    return in_.fail("a data size: " + list(lsc_data_size_names));
  in_.advance(size.size());
  if (is_block2d(shape)) return block_shape(lsc);
  if (is_quad(shape)) return in_.expect('.') && channel_mask(lsc);
  if (shape == LscShape::Atomic && in_.accept('.')) return channel_mask(lsc);
  return elements(lsc);
}

bool LscParser::elements(Lsc& lsc) {
  if (in_.next() == 'x') {
    in_.advance(1);
    std::uint32_t count = 0;
    const Location place = in_.location();
    if (!size(count)) return false;
    if (std::ranges::find(lsc_element_counts, count) == std::end(lsc_element_counts))
      return in_.fail_at(place, "1, 2, 3, 4, 8, 16, 32 or 64 elements", std::to_string(count));
    lsc.elements = static_cast<std::uint8_t>(count);
  }
  if (in_.next() == 't') {
    in_.advance(1);
    lsc.transposed = true;
  }
  return true;
}

bool LscParser::channel_mask(Lsc& lsc) {
  const std::string_view word = in_.peek_word();
  std::size_t next = 0;
  for (char c : word) {
    const std::size_t channel = lsc_channel_letters.find(c);
    if (channel == std::string_view::npos || channel < next) return in_.fail("channels out of xyzw");
    lsc.channel_mask = static_cast<std::uint8_t>(lsc.channel_mask | 1u << channel);
    next = channel + 1;
  }
  if (word.empty()) return in_.fail("channels out of xyzw");
  in_.advance(word.size());
  return true;
}

bool LscParser::block_shape(Lsc& lsc) {
  std::uint32_t sizes[3] = {};
  unsigned count = 0;
  if (!in_.expect('.')) return false;
  const Location place = in_.location();
  for (bool more = true; more;) {
    if (count == 3) return in_.fail("blocks x width x height");
    if (!size(sizes[count++])) return false;
    more = in_.next() == 'x';
    if (more) in_.advance(1);
  }
  if (count < 2) return in_.fail("'x'");
  const std::uint32_t blocks = count == 3 ? sizes[0] : 1;
  if (blocks > 0xff) return in_.fail_at(place, "at most 255 blocks", std::to_string(blocks));
  lsc.blocks = static_cast<std::uint8_t>(blocks);
  lsc.width = static_cast<std::uint16_t>(sizes[count - 2]);
  lsc.height = static_cast<std::uint16_t>(sizes[count - 1]);
  const std::string_view order = is_letter(in_.next()) ? in_.peek_word() : std::string_view();
  if (order.size() > 2 || order.find_first_not_of("nt") != std::string_view::npos)
    return in_.fail("nn, nt, tn or tt: transposed, and transformed as VNNI wants it");
  lsc.transposed = order.starts_with('t');
  lsc.vnni = order.size() == 2 && order[1] == 't';
  in_.advance(order.size());
  return true;
}

bool LscParser::typed_block_shape(Lsc& lsc) {
  std::uint32_t width = 0, height = 0;
  if (!size(width) || !in_.expect('x') || !size(height)) return false;
  lsc.width = static_cast<std::uint16_t>(width);
  lsc.height = static_cast<std::uint16_t>(height);
  return true;
}

bool LscParser::address(Lsc& lsc, LscOperands& out) {
  const bool block = is_block2d(info(lsc.op).shape);
  if (!model(lsc, out)) return false;
  if (is_typed(lsc.unit)) return block ? typed_block_address(lsc, out) : typed_address(lsc, out);
  return block ? block_address(lsc, out) : untyped_address(lsc, out);
}

bool LscParser::model(Lsc& lsc, LscOperands& out) {
  using enum LscAddressModel;
  if (in_.peek() == '[') {  // the default
    lsc.model = flat;
    return !is_typed(lsc.unit) || in_.fail("an address model with a surface");
  }
  const std::string_view word = in_.peek_word();
  if (!find(lsc_model_names, word, lsc.model)) return in_.fail("an address model: " + list(lsc_model_names));
  const LscShape shape = info(lsc.op).shape;
  const bool stateless = lsc.model == flat || lsc.model == arg;
  if (stateless &&
      (is_typed(lsc.unit) || shape == LscShape::AppendCounter || shape == LscShape::ReadStateInfo))
    return in_.fail("an address model with a surface");
  if (!is_typed(lsc.unit) && is_block2d(shape) && lsc.model != flat)
    return in_.fail("flat, the model of block2d");
  in_.advance(word.size());
  if (lsc.model == arg || (lsc.model == flat && in_.peek() != '(')) return true;
  const bool wide = lsc.model == flat || lsc.model == surf;
  if (!in_.expect('(') || !operands_.scalar(true, wide ? Type::uq : Type::ud, at(out, LscOperand::Surface)))
    return false;
  if (lsc.model != flat && in_.accept(',')) {
    std::int64_t index = 0;
    if (!expression(in_, Loosest::Any, 0, std::numeric_limits<std::uint32_t>::max(), "a surface index",
                    index))
      return false;
    lsc.surface_index = static_cast<std::uint32_t>(index);
  }
  return in_.expect(')');
}

bool LscParser::untyped_address(Lsc& lsc, LscOperands& out) {
  Operand& base = at(out, LscOperand::Address0);
  const bool strided = is_strided(info(lsc.op).shape);
  if (!in_.expect('[') || !scale(lsc)) return false;
  const Location place = in_.location();
  if (!operands_.raw(true, base)) return false;
  if (base.kind == OperandKind::Null) return in_.fail_at(place, "a variable with addresses");
  if (strided) {  // a single address instead of one per channel: an element
    const std::uint32_t size = operands_.element_bytes(base);
    if (base.column % size != 0)
      return in_.fail_at(place, fmt::format("an offset in whole elements of {} bytes", size),
                         std::to_string(base.column));
    base.kind = OperandKind::General;
    base.region = {0, 1, 0};
    base.column /= size;
  }
  if (!offset(lsc.offset)) return false;
  if (strided && in_.accept(',') && !operands_.scalar(true, Type::ud, at(out, LscOperand::Address1)))
    return false;
  return in_.expect(']') && address_size(lsc);
}

bool LscParser::typed_address(Lsc& lsc, LscOperands& out) {
  constexpr std::size_t coordinates = 3, all = 4;  // the last one is the level of detail
  std::int32_t* const offsets[coordinates] = {&lsc.offset, &lsc.offset_y, &lsc.offset_z};
  if (!in_.expect('[')) return false;
  std::size_t count = 0;
  do {
    if (count == all) return in_.fail("']'");
    if (!operands_.raw(true, at(out, address_place(count)))) return false;
    if (count < coordinates && !offset(*offsets[count])) return false;
    ++count;
  } while (in_.accept(','));
  return in_.expect(']') && address_size(lsc);
}

bool LscParser::block_address(Lsc& lsc, LscOperands& out) {
  lsc.address_size = LscAddressSize::a64;
  if (!in_.expect('[')) return false;
  for (std::size_t i = 0; i < 6; ++i) {
    Operand& operand = at(out, address_place(i));
    if ((i != 0 && !in_.expect(',')) || !operands_.scalar(i != 0, Type::ud, operand)) return false;
    const bool coordinate = i >= 4 && operand.kind != OperandKind::Immediate;
    if (coordinate && !offset(i == 4 ? lsc.offset : lsc.offset_y)) return false;
  }
  return in_.expect(']');
}

bool LscParser::typed_block_address(Lsc& lsc, LscOperands& out) {
  lsc.address_size = LscAddressSize::a32;
  if (!in_.expect('[')) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    Operand& operand = at(out, address_place(i));
    if ((i != 0 && !in_.expect(',')) || !operands_.scalar(true, Type::ud, operand)) return false;
    if (operand.kind != OperandKind::Immediate && !offset(i == 0 ? lsc.offset : lsc.offset_y)) return false;
  }
  return in_.expect(']');
}

bool LscParser::scale(Lsc& lsc) {
  if (!in_.at_number() && in_.peek() != '(') return true;
  std::int64_t value = 0;
  if (!expression(in_, Loosest::Primary, 1, 0xffff, "a scale", value)) return false;
  lsc.scale = static_cast<std::uint16_t>(value);
  return in_.expect('*');
}

bool LscParser::offset(std::int32_t& out) {
  const bool minus = in_.peek() == '-';
  if (!minus && in_.peek() != '+') return true;
  in_.advance(1);
  std::int64_t value = 0;
  if (!expression(in_, minus ? Loosest::Multiply : Loosest::Add, -0x7fffffff, 0x7fffffff, "an offset", value))
    return false;
  out = static_cast<std::int32_t>(minus ? -value : value);
  return true;
}

bool LscParser::address_size(Lsc& lsc) {
  if (!in_.expect(':')) return false;
  const std::string_view word = in_.peek_word();
  if (!find(lsc_address_size_names, word, lsc.address_size))
    return in_.fail("an address size: " + list(lsc_address_size_names));
  in_.advance(word.size());
  return true;
}

bool LscParser::size(std::uint32_t& out) {
  // A number that starts with 0 would be read as hexadecimal: 0x8.
  if (in_.peek() == '0') return in_.fail("a size of at least 1");
  return in_.number(out, 0xffff, "a size");
}

}  // namespace eum::visa
