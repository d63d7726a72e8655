// Enough threads that a launch takes at least 0.1 ms, and enough repetitions that the cost of a thread itself
// is small.
#include "perf/kernels/micro.hpp"

namespace eum::perf {
namespace {

constexpr unsigned kMany = 1 << 18, kSome = 1 << 14;

constexpr MicroRow kRows[] = {
    {"empty", "", kMany, 0},
    {"store_one", "", kMany, 0},
    {"copy_one", "", kMany, 0},
    {"barriers", "barrier", kSome, 100},
    {"slm_exchange", "SLM write, barrier, SLM read, barrier", kSome, 100},
    {"slm_atomic_own", "SLM atomic, each its own place", kSome, 100},
    {"slm_atomic_one", "SLM atomic, all one place", kSome, 100},
    {"global_atomic_own", "global atomic, each its own place", kSome, 100},
    {"global_atomic_one", "global atomic, all one place", kSome, 100},
    {"read_consecutive", "consecutive read", kSome, 200},
    {"read_masked", "consecutive read, a channel off", kSome, 200},
    {"read_uniform", "read of one place by all", kSome, 200},
    {"read_random", "random read, 16 KB", kSome, 200},
    {"read_stride4", "read of every fourth dword", kSome, 200},
    {"read_bytes", "consecutive read of bytes", kSome, 200},
    {"read_float4", "consecutive read of four floats", kSome, 200},
    {"write_consecutive", "consecutive write", kSome, 32},
    {"write_random", "random write, 16 KB", kSome, 200},
    {"fma64", "double fma", kSome, 200},
    {"mad32", "four float fma", kSome, 200},
    {"mul64", "64-bit multiply, shift, xor, add", kSome, 100},
    {"div32", "u32 division, 5 operations more", kSome, 100},
    {"divergent", "if and else, 3 operations", kSome, 200},
    {"block_copy", "block of 8 registers read, added to, written", kSome, 100},
    {"sub_group_sum", "sub-group sum of 16", kSome, 200},
};

}  // namespace

std::span<const MicroRow> micro_rows() { return kRows; }

}  // namespace eum::perf
