// Precedence climbing over the operators of vISA's integer expressions (grammar of the vISA assembler: the
// logical operators bind least tightly, '|' tighter than '^', and '^' tighter than '&').
#include "frontend/visa/expression.hpp"

namespace eum::visa {
namespace {

constexpr unsigned max_depth = 64;  // of parentheses and signs: a text must not exhaust the host's stack

struct Operator {
  std::string_view text;
  unsigned precedence;
};
constexpr unsigned shift_precedence = 6, add_precedence = 7, multiply_precedence = 8;
// Operators that are prefixes of others come after these.
constexpr Operator operators[] = {{">>>", shift_precedence},
                                  {"<<", shift_precedence},
                                  {">>", shift_precedence},
                                  {"==", 4},
                                  {"!=", 4},
                                  {"<=", 5},
                                  {">=", 5},
                                  {"<", 5},
                                  {">", 5},
                                  {"&", 1},
                                  {"^", 2},
                                  {"|", 3},
                                  {"+", add_precedence},
                                  {"-", add_precedence},
                                  {"*", multiply_precedence},
                                  {"/", multiply_precedence},
                                  {"%", multiply_precedence}};

class Expression {
 public:
  explicit Expression(Lexer& in) : in_(in) {}

  bool any(std::int64_t& value) {
    if (!binary(1, value)) return false;
    if (!in_.accept('?')) return true;
    std::int64_t yes = 0, no = 0;
    if (!deeper() || !binary(1, yes) || !in_.expect(':') || !any(no)) return false;
    --depth_;
    value = value != 0 ? yes : no;
    return true;
  }

  bool binary(unsigned loosest, std::int64_t& value) {
    if (!unary(value)) return false;
    while (const Operator* op = next(loosest)) {
      const Location place = in_.location();
      in_.advance(op->text.size());
      std::int64_t right = 0;
      if (!binary(op->precedence + 1, right)) return false;
      if (!apply(op->text, value, right))
        return in_.fail_at(place, "a result of 64 bits", fmt::format("{} {} {}", value, op->text, right));
    }
    return true;
  }

  bool unary(std::int64_t& value) {
    for (char sign : {'-', '~', '!'}) {
      if (in_.peek() != sign) continue;
      if (!deeper()) return false;
      in_.advance(1);
      if (!unary(value)) return false;
      --depth_;
      const auto bits = static_cast<std::uint64_t>(value);
      value = sign == '-' ? static_cast<std::int64_t>(0 - bits) : sign == '~' ? ~value : value == 0;
      return true;
    }
    return primary(value);
  }

  bool primary(std::int64_t& value) {
    if (in_.peek() == '(') {
      if (!deeper()) return false;
      in_.advance(1);
      if (!any(value) || !in_.expect(')')) return false;
      --depth_;
      return true;
    }
    if (in_.peek() == '%') return in_.fail("a constant (%sizeof and %DispatchSimd are not supported)");
    std::uint64_t literal = 0;
    if (!in_.number(literal)) return false;
    value = static_cast<std::int64_t>(literal);
    return true;
  }

 private:
  bool deeper() { return ++depth_ <= max_depth || in_.fail("at most 64 nested parentheses and signs"); }

  const Operator* next(unsigned loosest) {
    const char c = in_.peek();
    if (is_word(c) || c == '\n' || c == ',' || c == ')') return nullptr;
    const std::string_view rest = in_.rest();
    if (rest.starts_with("%") && rest.size() > 1 && is_letter(rest[1])) return nullptr;  // a variable
    for (const Operator& op : operators)
      if (rest.starts_with(op.text)) return op.precedence >= loosest ? &op : nullptr;
    return nullptr;
  }

  /// left = left op right; false if the result does not exist or fit 64 bits, and `left` is unchanged.
  static bool apply(std::string_view op, std::int64_t& left, std::int64_t right) {
    const auto bits = static_cast<std::uint64_t>(left);
    const bool shift = right >= 0 && right < 64;
    std::int64_t result = 0;
    if (op == "+" || op == "-" || op == "*") {
      if (op == "+"   ? __builtin_add_overflow(left, right, &result)
          : op == "-" ? __builtin_sub_overflow(left, right, &result)
                      : __builtin_mul_overflow(left, right, &result))
        return false;
      left = result;
    } else if (op == "/" || op == "%") {
      if (right == 0 || (right == -1 && left == std::numeric_limits<std::int64_t>::min())) return false;
      left = op == "/" ? left / right : left % right;
    } else if (op == "<<" || op == ">>" || op == ">>>") {
      if (!shift) return false;
      left = op == "<<"   ? static_cast<std::int64_t>(bits << right)
             : op == ">>" ? left >> right
                          : static_cast<std::int64_t>(bits >> right);
    } else {
      left = op == "&"    ? left & right
             : op == "^"  ? left ^ right
             : op == "|"  ? left | right
             : op == "==" ? left == right
             : op == "!=" ? left != right
             : op == "<=" ? left <= right
             : op == ">=" ? left >= right
             : op == "<"  ? left < right
                          : left > right;
    }
    return true;
  }

  Lexer& in_;
  unsigned depth_ = 0;
};

}  // namespace

bool expression(Lexer& in, Loosest loosest, std::int64_t& value) {
  if (in.plain_number(value)) return true;
  Expression parser(in);
  switch (loosest) {
    case Loosest::Any:
      return parser.any(value);
    case Loosest::Shift:
      return parser.binary(shift_precedence, value);
    case Loosest::Add:
      return parser.binary(add_precedence, value);
    case Loosest::Multiply:
      return parser.binary(multiply_precedence, value);
    case Loosest::Unary:
      return parser.unary(value);
    case Loosest::Primary:
      return parser.primary(value);
  }
  return false;
}

bool expression(Lexer& in, Loosest loosest, std::int64_t min, std::int64_t max, std::string_view what,
                std::int64_t& value) {
  const Location place = in.location();
  if (!expression(in, loosest, value)) return false;
  if (value >= min && value <= max) return true;
  return in.fail_at(place, fmt::format("{} from {} to {}", what, min, max), std::to_string(value));
}

}  // namespace eum::visa
