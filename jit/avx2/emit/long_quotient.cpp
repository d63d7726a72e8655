// Quotients of 64-bit integers, by f64. In every rounding mode a conversion from u64, or a division, is off
// by 2^-52 of its value at most, so that the quotient of two conversions, multiplied by 1 - 2^-49, is at most
// a/b, and less than a/b by less than a/b * 2^-48. If it is below 2^48 its integer part is the quotient or
// one less. Otherwise the same is done once more with what is left, whose quotient is below 2^17.
#include "jit/avx2/emit/long_quotient.hpp"

#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

namespace {

constexpr std::uint64_t two_to_52 = 0x4330000000000000, two_to_84 = 0x4530000000000000,
                        two_to_84_and_52 = 0x4530000000100000, two_to_48 = 0x42f0000000000000,
                        two_to_32 = 0x41f0000000000000, two_to_minus_32 = 0x3df0000000000000,
                        one = 0x3ff0000000000000, slightly_less_than_1 = 0x3feffffffffffff0;
constexpr unsigned high_dwords = 0xaa;  ///< for vpblendd
constexpr int floor_mode = 1 | 8;       ///< for vroundpd, without exceptions
constexpr int greater_or_equal = 0x1d;  ///< for vcmppd; false for NaN

class LongQuotient {
 public:
  LongQuotient(Compiler& c, bool by_zero, bool is_signed)
      : c_(c),
        by_zero_(by_zero),
        is_signed_(is_signed),
        x_(c.v.scratch()),
        y_(c.v.scratch()),
        p_(c.v.scratch()),
        r_(c.v.scratch()) {}

  void emit(x86::Ymm to, x86::Ymm a, x86::Ymm b) {
    if (!is_signed_) return divide(to, a, b);
    auto& code = c_.a;
    const x86::Ymm dividend = c_.v.scratch(), divisor = c_.v.scratch();
    take_magnitude(dividend, a);
    take_magnitude(divisor, b);
    divide(to, dividend, divisor);
    // The sign, and what x/0 gives.
    code.vpxor(x_, a, b);
    spread_sign(y_, x_);
    code.vpxor(to, to, y_);
    code.vpsubq(to, to, y_);
    if (!by_zero_) return;
    spread_sign(y_, a);
    code.vpxor(y_, y_, c_.splat(~std::uint64_t{0} >> 1, 8));
    code.vpxor(x_, x_, x_);
    code.vpcmpeqq(x_, x_, b);
    code.vblendvpd(to, to, y_, x_);
  }

 private:
  /// to = all ones if negative, else 0
  void spread_sign(x86::Ymm to, x86::Ymm from) const {
    c_.a.vpxor(p_, p_, p_);
    c_.a.vpcmpgtq(to, p_, from);
  }
  void take_magnitude(x86::Ymm to, x86::Ymm from) const {
    spread_sign(y_, from);
    c_.a.vpxor(to, from, y_);
    c_.a.vpsubq(to, to, y_);
  }

  /// Four lanes of u64 as f64, rounded once: the sum of their halves. Changes p.
  void to_f64(x86::Ymm to, x86::Ymm from) const {
    auto& code = c_.a;
    code.vpsrlq(p_, from, 32);
    code.vpor(p_, p_, c_.splat(two_to_84, 8));
    code.vsubpd(p_, p_, c_.splat(two_to_84_and_52, 8));
    code.vpblendd(to, from, c_.splat(two_to_52, 8), high_dwords);
    code.vaddpd(to, to, p_);
  }
  /// The integer part of x, which is below 2^52, as u64.
  void to_integer() const {
    c_.a.vroundpd(x_, x_, floor_mode);
    c_.a.vaddpd(x_, x_, c_.splat(two_to_52, 8));
    c_.a.vpxor(x_, x_, c_.splat(two_to_52, 8));
  }
  /// The same for any x, from its halves. Changes p.
  void to_large_integer() const {
    auto& code = c_.a;
    code.vmulpd(p_, x_, c_.splat(two_to_minus_32, 8));
    code.vroundpd(p_, p_, floor_mode);
    code.vfnmadd231pd(x_, p_, c_.splat(two_to_32, 8));
    code.vroundpd(x_, x_, floor_mode);
    code.vaddpd(x_, x_, c_.splat(two_to_52, 8));
    code.vaddpd(p_, p_, c_.splat(two_to_52, 8));
    code.vpsllq(p_, p_, 32);
    code.vpblendd(x_, x_, p_, high_dwords);
  }
  /// x = x / y, slightly less
  void divide_floats() const {
    c_.a.vdivpd(x_, x_, y_);
    c_.a.vmulpd(x_, x_, c_.splat(slightly_less_than_1, 8));
  }
  /// r = a - x * b. Changes p.
  void take_rest(x86::Ymm a, x86::Ymm b) const {
    auto& code = c_.a;
    code.vpsrlq(p_, x_, 32);
    code.vpmuludq(p_, p_, b);
    code.vpsrlq(r_, b, 32);
    code.vpmuludq(r_, r_, x_);
    code.vpaddq(p_, p_, r_);
    code.vpsllq(p_, p_, 32);
    code.vpmuludq(r_, x_, b);
    code.vpaddq(p_, p_, r_);
    code.vpsubq(r_, a, p_);
  }

  /// `to` is neither a nor b.
  void divide(x86::Ymm to, x86::Ymm a, x86::Ymm b) const {
    auto& code = c_.a;
    const asmjit::Label large = code.newLabel(), correct = code.newLabel();
    to_f64(x_, a);
    to_f64(y_, b);
    code.vmaxpd(y_, y_, c_.splat(one, 8));  // lanes with x/0 shall not count as large
    divide_floats();
    code.vcmppd(p_, x_, c_.splat(two_to_48, 8), greater_or_equal);
    code.vptest(p_, p_);
    code.jnz(large);
    to_integer();
    code.bind(correct);
    take_rest(a, b);
    // One more if the rest is not below b, as unsigned numbers.
    code.vpxor(r_, r_, c_.splat(std::uint64_t{1} << 63, 8));
    code.vpxor(p_, b, c_.splat(std::uint64_t{1} << 63, 8));
    code.vpcmpgtq(p_, p_, r_);
    code.vpaddq(to, x_, p_);
    code.vpsubq(to, to, c_.splat(~std::uint64_t{0}, 8));
    if (by_zero_ && !is_signed_) {
      code.vpxor(p_, p_, p_);
      code.vpcmpeqq(p_, p_, b);
      code.vpor(to, to, p_);
    }
    c_.out_of_line([self = *this, to, a, b, large, correct] {
      auto& code = self.c_.a;
      code.bind(large);
      self.to_large_integer();
      code.vmovaps(to, self.x_);
      self.take_rest(a, b);
      self.to_f64(self.x_, self.r_);
      self.divide_floats();
      self.to_integer();
      code.vpaddq(self.x_, self.x_, to);
      code.jmp(correct);
    });
  }

  Compiler& c_;
  bool by_zero_, is_signed_;
  x86::Ymm x_, y_, p_, r_;
};

}  // namespace

void emit_long_quotient(Compiler& c, const CodeInst& inst, bool by_zero) {
  by_chunks<2>(c, inst, [&](x86::Ymm to, x86::Ymm a, x86::Ymm b) {
    LongQuotient(c, by_zero, ir::is_signed(inst.type)).emit(to, a, b);
  });
}

}  // namespace eum::jit::avx2::emit
