// The table of functions. IVB: "EU ISA" of the Ivy Bridge manual, 2.3.1.2. VK: "Precision and Operation of
// SPIR-V Instructions" of the Vulkan specification, which Intel's drivers satisfy with these instructions as
// they are; its bounds of derived functions are computed here. The available manuals give no bounds for the
// transcendental functions.
#include "tests/accuracy/math_functions.hpp"

#include <cmath>
#include <limits>

namespace eum::accuracy {
namespace {

constexpr double all = std::numeric_limits<double>::infinity(), pi = 3.14159265358979323846;
/// Beyond this, sine and cosine take 0 as the argument (frontend/ir/semantics/transcendental.hpp).
constexpr double reduced = 0x1p22;

constexpr Range reciprocal[] = {{0, all, 1, 0, 0, "1 ulp (IVB)"}};
constexpr Range half_reciprocal[] = {{0, all, 2.5, 0, 0, "2.5 ulp (VK)"}};
constexpr Range root[] = {{0, all, 3.5, 0, 0, "1 / inversesqrt: 3.5 ulp (VK)"}};
constexpr Range reciprocal_root[] = {{0, all, 2, 0, 0, "2 ulp (VK)"}};
constexpr Range quotient[] = {{0, all, 2.5, 0, 0, "2.5 ulp (VK)"}};
constexpr Range logarithm[] = {{0.5, 2, 0, 0, 0x1p-21, "2^-21 (VK)"}, {0, all, 3, 0, 0, "3 ulp (VK)"}};
constexpr Range half_logarithm[] = {{0.5, 2, 0, 0, 0x1p-7, "2^-7 (VK)"}, {0, all, 3, 0, 0, "3 ulp (VK)"}};
constexpr Range exponential[] = {{0, all, 3, 2, 0, "3 + 2 |x| ulp (VK)"}};
constexpr Range half_exponential[] = {{0, all, 1, 2, 0, "1 + 2 |x| ulp (VK)"}};
constexpr Range trigonometric[] = {{0, pi, 0, 0, 0x1p-11, "2^-11 in [-pi, pi] (VK)"},
                                   {pi, 0x1p15, 0, 0, 0x1p-11, "none"},
                                   {0x1p15, reduced, 0, 0, 0x1p-11, "none"}};
constexpr Range half_trigonometric[] = {{0, pi, 0, 0, 0x1p-7, "2^-7 in [-pi, pi] (VK)"},
                                        {pi, reduced, 0, 0, 0x1p-7, "none"}};
constexpr Range power[] = {{0, all, 16, 0, 0, "16 ulp (OpenCL 7.4, pow)"}};

double inverse(double x, double) { return 1 / x; }
double square_root(double x, double) { return std::sqrt(x); }
double inverse_root(double x, double) { return 1 / std::sqrt(x); }
double log2(double x, double) { return std::log2(x); }
double exp2(double x, double) { return std::exp2(x); }
double sine(double x, double) { return std::sin(std::fabs(x) < reduced || std::isinf(x) ? x : 0 * x); }
double cosine(double x, double) { return std::cos(std::fabs(x) < reduced || std::isinf(x) ? x : 0 * x); }
double divide(double x, double y) { return x / y; }
double power_of(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? x + y : std::pow(std::fabs(x), y);
}

using enum Element;
constexpr MathFunction functions[] = {
    {"inv", 1, 1, F, inverse, reciprocal},
    {"log", 2, 1, F, log2, logarithm},
    {"exp", 3, 1, F, exp2, exponential},
    {"sqt", 4, 1, F, square_root, root},
    {"rsqt", 5, 1, F, inverse_root, reciprocal_root},
    {"sin", 6, 1, F, sine, trigonometric},
    {"cos", 7, 1, F, cosine, trigonometric},
    {"inv:hf", 1, 1, HF, inverse, half_reciprocal},
    {"log:hf", 2, 1, HF, log2, half_logarithm},
    {"exp:hf", 3, 1, HF, exp2, half_exponential},
    {"sqt:hf", 4, 1, HF, square_root, root},
    {"rsqt:hf", 5, 1, HF, inverse_root, reciprocal_root},
    {"sin:hf", 6, 1, HF, sine, half_trigonometric},
    {"cos:hf", 7, 1, HF, cosine, half_trigonometric},
    {"fdiv", 9, 2, F, divide, quotient},
    {"pow", 10, 2, F, power_of, power},
    {"fdiv:hf", 9, 2, HF, divide, quotient},
    {"pow:hf", 10, 2, HF, power_of, power},
};

}  // namespace

std::span<const MathFunction> math_functions() { return functions; }

}  // namespace eum::accuracy
