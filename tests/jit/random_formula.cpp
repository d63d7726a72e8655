#include "tests/jit/random_formula.hpp"

#include <fmt/format.h>

#include <random>

#include "frontend/ir/builder.hpp"

namespace eum::jit::test {

using namespace ir;

namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), b_(function_) {
    function_.name = fmt::format("formula{}", seed);
    function_.family = "gen9";
    function_.simd = chance(50) ? 16 : 32;
    function_.file_bytes = 4096;
    wide_ = chance(25);
    lanes_ = wide_ ? 8 : chance(80) ? 16 : 32;
  }

  Function make() {
    b_.set_block(function_.add_block(0));
    function_.blocks[0].guest_instructions = 1;
    const unsigned count = 14 + below(12);
    for (unsigned i = 0; i < count; ++i) values_.push_back(read());
    masks_ = {b_.flag_read(lanes_, 0), b_.slice(b_.mask_get(0), 0, std::min(lanes_, function_.simd))};
    if (lanes_ > function_.simd) masks_.pop_back();
    const unsigned ops = 60 + below(100);
    for (unsigned i = 0; i < ops; ++i) {
      b_.set_guest_ip(16 * i);
      if (chance(6)) {
        write(pick(values_));
      } else if (chance(5)) {
        pick(values_) = read();
      } else {
        append_op();
      }
    }
    for (ValueId value : values_) write(value);
    b_.exit();
    return std::move(function_);
  }

 private:
  unsigned below(std::uint64_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  ValueId& pick(std::vector<ValueId>& list) { return list[below(list.size())]; }

  Type any_type() {
    constexpr Type narrow[] = {Type::u32, Type::s32, Type::f32}, wide[] = {Type::u64, Type::s64, Type::f64};
    return (wide_ ? wide : narrow)[below(3)];
  }
  Region any_region() {
    const unsigned bytes = lanes_ * (wide_ ? 8u : 4u);
    const unsigned step = chance(90) ? 32 : 4;
    return Region::packed(step * below((function_.file_bytes - bytes) / step + 1));
  }
  ValueId mask() { return chance(60) ? no_value : pick(masks_); }
  ValueId read() { return b_.reg_read(any_type(), lanes_, any_region()); }
  void write(ValueId value) { b_.reg_write(any_region(), value, mask()); }

  ValueId operand(Type type) {
    if (chance(5)) return b_.constant(type, lanes_, random_());
    if (chance(5)) return b_.splat(b_.reg_read(type, 1, Region::packed(8 * below(512))), lanes_);
    return b_.convert(Op::bitcast, type, pick(values_));
  }

  /// An op on one of the existing values.
  void append_op() {
    for (;;) {
      const Op op = static_cast<Op>(below(op_count));
      const Type type = any_type();
      if (!is_pure(op) || !takes(info(op).types, type)) continue;
      ValueId& result = pick(values_);
      const auto a = [&] { return operand(type); };
      switch (info(op).shape) {
        case Shape::Lanewise1:
          return (void)(result = b_.lanewise(op, {a()}));
        case Shape::Lanewise2:
          return (void)(result = b_.lanewise(op, {a(), a()}));
        case Shape::Lanewise3:
          return (void)(result = b_.lanewise(op, {a(), a(), a()}));
        case Shape::Select:
          return (void)(result = b_.select(pick(masks_), a(), a()));
        case Shape::Compare:
          return (void)(pick(masks_) = b_.compare(op, a(), a()));
        case Shape::Wide2: {
          const auto pair = b_.wide(op, {a(), a()});
          result = pair.first;
          pick(values_) = pair.second;
          return;
        }
        case Shape::Convert:
          if (op == Op::bitcast) continue;
          return (void)(result = b_.convert(op, type, operand(any_type())));
        default:
          continue;
      }
    }
  }

  std::mt19937_64 random_;
  Function function_;
  Builder b_;
  bool wide_ = false;   // elements of 64 bits
  unsigned lanes_ = 0;  // of each vector
  std::vector<ValueId> values_, masks_;
};

}  // namespace

Function random_formula(std::uint64_t seed) { return Generator(seed).make(); }

}  // namespace eum::jit::test
