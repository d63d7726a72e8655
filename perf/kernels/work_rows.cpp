// Further kernels with a native loop: those of work_kernels.hpp, and corpus kernels with arguments of a size
// that takes at least 10 ms.
#include "perf/kernels/kernels.hpp"
#include "tests/kernels/work_kernels.hpp"

namespace eum::perf {
namespace {

using namespace kernels;
using namespace kernels::work;

/// Divisors other than 0 and -1, so that no quotient overflows.
template <class T>
std::vector<T> divisors(size_t count) {
  std::vector<T> values = random_bits<T>(2001, count);
  for (T& value : values)
    if (value == 0 || value == static_cast<T>(-1)) value = 3;
  return values;
}

std::vector<uint8_t> letters(size_t count) { return random_integers<uint8_t>(2002, count, 'a', 'c'); }

std::vector<double> doubles(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<double> values(count);
  for (double& value : values) value = random.real(0.5, 2);
  return values;
}

KernelCase reduce() {
  const uint32_t n = 1 << 24, global = 1 << 16, local = 256;
  return resized("reduce.reduce.wide", {global, 1, 1}, {local, 1, 1},
                 {input(random_bits<int32_t>(2011, n)), output<int32_t>(global / local),
                  LocalMemory{local * 4}, scalar(n)});
}

KernelCase scan_blocks() {
  const uint32_t n = 1 << 22;
  return resized(
      "scan.scan_blocks", {n, 1, 1}, {128, 1, 1},
      {input(random_bits<uint32_t>(2012, n)), output<uint32_t>(n), output<uint32_t>(n / 128), scalar(n)});
}

KernelCase transpose() {
  const uint32_t n = 2048;
  return resized("transpose.transpose.whole_tiles", {n, n, 1}, {16, 16, 1},
                 {input(random_floats(2013, size_t{n} * n, -1, 1)), output<float>(size_t{n} * n),
                  scalar(static_cast<int32_t>(n)), scalar(static_cast<int32_t>(n))});
}

KernelCase histogram(const char* small, uint32_t global, uint32_t local, uint32_t n) {
  return resized(
      small, {global, 1, 1}, {local, 1, 1},
      {input(random_integers<uint8_t>(2014, n, 0, 255)), in_out(std::vector<uint32_t>(256)), scalar(n)});
}

KernelCase bitonic_step() {
  const uint32_t n = 1 << 22;
  return resized("bitonic.bitonic_step.16_64", {n, 1, 1}, {},
                 {in_out(random_bits<uint32_t>(2015, n)), scalar(64u), scalar(1024u)});
}

KernelCase bitonic_local() {
  const uint32_t n = 1 << 20;
  return resized("bitonic.bitonic_local", {n / 2, 1, 1}, {128, 1, 1},
                 {input(random_bits<int32_t>(2016, n)), output<int32_t>(n)});
}

KernelCase conv_f32() {
  const uint32_t n = 2048;
  return resized("conv3x3.conv3x3_f32", {n, n, 1}, {},
                 {input(random_floats(2017, size_t{n} * n, -4, 4)), output<float>(size_t{n} * n),
                  input(random_floats(2018, 9, -1, 1)), scalar(static_cast<int32_t>(n)),
                  scalar(static_cast<int32_t>(n))});
}

KernelCase conv_u8() {
  const uint32_t width = 1920, height = 1080;
  const size_t size = size_t{width} * height;
  return resized(
      "conv3x3.conv3x3_u8.driver_groups", {width, height, 1}, {},
      {input(random_integers<uint8_t>(2019, size, 0, 255)), output<uint8_t>(size),
       input(std::vector<int8_t>{-20, 35, -20, 35, 90, 35, -20, 35, -128}),
       scalar(static_cast<int32_t>(width)), scalar(static_cast<int32_t>(height)), scalar(int32_t{5})});
}

KernelCase stencil3d() {
  const uint32_t n = 160;
  const size_t size = size_t{n} * n * n;
  return resized("stencil3d.stencil3d.driver_groups", {n, n, n}, {},
                 {input(random_floats(2020, size, -4, 4)), output<float>(size), scalar(0.4f), scalar(0.1f)});
}

KernelCase matvec() {
  const uint32_t rows = 4096, columns = 1024;
  return resized(
      "matvec.matvec", {rows, 1, 1}, {},
      {input(random_floats(2021, size_t{rows} * columns, -1, 1)), input(random_floats(2022, columns, -1, 1)),
       output<float>(rows), scalar(static_cast<int32_t>(columns))});
}

KernelCase matvec_group() {
  const uint32_t rows = 4096, columns = 1024, local = 64;
  return resized(
      "matvec.matvec_group", {rows * local, 1, 1}, {local, 1, 1},
      {input(random_floats(2023, size_t{rows} * columns, -1, 1)), input(random_floats(2024, columns, -1, 1)),
       output<float>(rows), scalar(static_cast<int32_t>(columns)), LocalMemory{local * 4}});
}

KernelCase dot64() {
  const uint32_t n = 1 << 22, global = 1 << 15, local = 64;
  return resized("dot64.dot64.several_groups", {global, 1, 1}, {local, 1, 1},
                 {input(doubles(2025, n)), input(doubles(2026, n)), output<double>(global / local),
                  LocalMemory{local * 8}, scalar(n)});
}

KernelCase strfind() {
  const uint32_t n = 1 << 22;
  return resized(
      "strfind.strfind.many", {n, 1, 1}, {},
      {input(letters(n)), scalar(n), input(std::vector<uint8_t>{'a', 'b', 'c', 'a', 'b', 'b', 'a', 'c'}),
       scalar(8u), output<uint8_t>(n), in_out(std::vector<uint32_t>{0}),
       in_out(std::vector<uint32_t>{0xffffffff})});
}

KernelCase collatz() {
  const uint32_t n = 1 << 17;
  return resized("collatz.collatz.small", {n, 1, 1}, {},
                 {scalar(uint64_t{1000000}), output<uint32_t>(n), output<uint64_t>(n), scalar(1000u)});
}

KernelCase primes_trial() {
  const uint32_t n = 1 << 17;
  return resized("primes.primes_trial.small", {n, 1, 1}, {},
                 {scalar(1000000u), output<uint8_t>(n), output<uint32_t>(n)});
}

KernelCase intdiv32() {
  const uint32_t n = 1 << 20;
  return resized("intdiv.intdiv32", {n, 1, 1}, {},
                 {input(random_bits<int32_t>(2027, n)), input(divisors<int32_t>(n)), scalar(int32_t{-13}),
                  output<int32_t>(size_t{n} * 4), output<uint32_t>(size_t{n} * 4)});
}

KernelCase divide64() {
  const uint32_t n = 1 << 16;
  return resized("arith64.divide64", {n, 1, 1}, {},
                 {input(random_bits<int64_t>(2028, n)), input(divisors<int64_t>(n)),
                  output<int64_t>(size_t{n} * 2), output<uint64_t>(size_t{n} * 2)});
}

KernelCase gather() {
  const uint32_t n = 1 << 20;
  std::vector<uint32_t> index(n);
  for (uint32_t i = 0; i < n; i++) index[i] = i * 2654435761u % n;  // odd: a permutation, as n is 2^20
  return resized("gather.gather", {n, 1, 1}, {},
                 {input(index), input(random_bits<uint8_t>(2029, n)), input(random_bits<uint16_t>(2030, n)),
                  input(random_bits<uint32_t>(2031, n)), input(random_bits<uint64_t>(2032, n)),
                  output<uint8_t>(n), output<uint16_t>(n), output<uint32_t>(n), output<uint64_t>(n)});
}

KernelCase loops() {
  const uint32_t n = 1 << 17;
  return resized("loops.loops", {n, 1, 1}, {},
                 {input(random_bits<uint32_t>(2033, n)), output<uint32_t>(n), scalar(6u)});
}

KernelCase private_sort() {
  const uint32_t n = 1 << 15, length = 40;
  return resized("private_sort.private_sort", {n, 1, 1}, {},
                 {input(random_bits<int32_t>(2034, size_t{n} * length)), output<int32_t>(size_t{n} * length),
                  scalar(length)});
}

KernelCase private_shuffle() {
  const uint32_t n = 1 << 13, length = 11;
  return resized(
      "private_sort.private_shuffle", {n, 1, 1}, {},
      {input(random_bits<uint8_t>(2035, size_t{n} * length)), scalar(length), output<uint32_t>(n)});
}

KernelCase spill() {
  const uint32_t n = 1 << 14;
  return resized("spill.spill", {n, 1, 1}, {},
                 {input(random_bits<uint32_t>(2036, 176)), output<uint32_t>(n), scalar(20u)});
}

}  // namespace

void add_work_rows(std::vector<PerfKernel>& rows) {
  const auto gemm_of = [](const char* kernel) { return [kernel] { return gemm(kernel, 512); }; };
  rows.insert(
      rows.end(),
      {
          {"triad", "stream.triad", [] { return triad(1 << 22); }, native::triad, 4096},
          {"half_saxpy", "stream.half_saxpy", [] { return half_saxpy(1 << 22); }, native::half_saxpy, 4096},
          {"take", "stream.take", [] { return take(1 << 22, 1 << 16); }, native::take, 4096},
          {"gather", "gather.gather", gather, native::gather, 4096},
          {"lattice_a64", "pointers_a64.lattice", [] { return lattice("pointers_a64", 1026, 514); }},
          {"transpose", "transpose.transpose.whole_tiles", transpose, native::transpose, 16},
          {"stencil3d", "stencil3d.stencil3d.driver_groups", stencil3d, native::stencil3d},
          {"conv3x3_f32", "conv3x3.conv3x3_f32", conv_f32, native::conv3x3_f32, 8},
          {"conv3x3_u8", "conv3x3.conv3x3_u8.driver_groups", conv_u8, native::conv3x3_u8, 8},
          {"reduce", "reduce.reduce.wide", reduce, native::reduce, 256},
          {"reduce_tree", "stream.reduce_tree", [] { return reduce_tree(1 << 22); }, native::reduce_tree,
           4096},
          {"scan_blocks", "scan.scan_blocks", scan_blocks, native::scan_blocks, 4096},
          {"dot64", "dot64.dot64.several_groups", dot64, native::dot64, 64, {{.relative = 1e-13}}},
          {"matvec", "matvec.matvec", matvec, native::matvec, 16, {{.absolute = 1e-4}}},
          {"matvec_group",
           "matvec.matvec_group",
           matvec_group,
           native::matvec_group,
           64,
           {{.absolute = 1e-4}}},
          {"gemm_naive", "gemm.gemm_naive", gemm_of("gemm_naive"), native::gemm, 8},
          {"gemm_tiled", "gemm.gemm_tiled", gemm_of("gemm_tiled"), native::gemm, 8},
          {"gemm_registers", "gemm.gemm_registers", gemm_of("gemm_registers"), native::gemm_registers, 2},
          {"spmv", "sparse.spmv", [] { return spmv(1 << 18, 31); }, native::spmv, 1024},
          {"bfs_step", "sparse.bfs_step", [] { return bfs_step(1 << 20, 8); }, native::bfs_step, 1024},
          {"fft", "fft.fft", [] { return fft(2048); }, native::fft, 4096},
          {"sha256", "digest.sha256", [] { return sha256(1 << 18); }, native::sha256, 1024},
          {"chacha20", "digest.chacha20", [] { return chacha20(1 << 18); }, native::chacha20, 1024},
          {"crc32", "digest.crc32", [] { return crc32(1 << 15, 256); }, native::crc32, 64},
          {"intdiv32", "intdiv.intdiv32", intdiv32, native::intdiv32, 1024},
          {"divide64", "arith64.divide64", divide64, native::divide64, 1024},
          {"primes_trial", "primes.primes_trial.small", primes_trial, native::primes_trial, 1024},
          {"collatz", "collatz.collatz.small", collatz, native::collatz, 1024},
          {"strfind", "strfind.strfind.many", strfind, native::strfind, 4096},
          {"histogram_global", "histogram.histogram_global.spread",
           [] { return histogram("histogram.histogram_global.spread", 1 << 21, 256, 1 << 21); },
           native::histogram, 65536},
          {"histogram_local", "histogram.histogram_local.spread",
           [] { return histogram("histogram.histogram_local.spread", 1 << 15, 256, 1 << 22); },
           native::histogram_local, 1024},
          {"bitonic_step", "bitonic.bitonic_step.16_64", bitonic_step, native::bitonic_step, 4096},
          {"bitonic_local", "bitonic.bitonic_local", bitonic_local, native::bitonic_local, 128},
          {"loops", "loops.loops", loops, native::loops, 1024},
          {"private_sort", "private_sort.private_sort", private_sort, native::private_sort, 64},
          {"private_shuffle", "private_sort.private_shuffle", private_shuffle, native::private_shuffle, 64},
          {"spill", "spill.spill", spill, native::spill, 64},
      });
}

}  // namespace eum::perf
