// The loops that a C++ programmer would write for this CPU instead of a kernel, compiled with -O3
// -march=native -ffast-math -fopenmp-simd. They depend on a kernel's arguments only, not on the emulator.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace eum::perf::native {

/// The arguments of one launch, by index: memory of buffers, bytes of values (empty if it is neither).
struct Call {
  std::array<uint32_t, 3> global, local;
  std::span<const std::span<std::byte>> memory;
  std::span<const std::span<const std::byte>> values;

  template <class T>
  T* buffer(size_t index) const {
    return reinterpret_cast<T*>(memory[index].data());
  }
  template <class T>
  T value(size_t index) const {
    T value;
    std::memcpy(&value, values[index].data(), sizeof value);
    return value;
  }
};

/// Computes the part [begin, end) of the range's last dimension; parts may run concurrently.
using Loop = void (*)(const Call& call, size_t begin, size_t end);

/// GCC's vector extension, which the compiler maps to the vectors that the CPU has.
template <class T, size_t lanes>
using Vector [[gnu::vector_size(sizeof(T) * lanes)]] = T;

// The eight kernels with targets.
void arx(const Call&, size_t begin, size_t end);
void bs(const Call&, size_t begin, size_t end);
void hash(const Call&, size_t begin, size_t end);
void mandel(const Call&, size_t begin, size_t end);
void mandel2(const Call&, size_t begin, size_t end);
void nbody(const Call&, size_t begin, size_t end);
void saxpy(const Call&, size_t begin, size_t end);
void sgemm(const Call&, size_t begin, size_t end);
// Passes over memory.
void triad(const Call&, size_t begin, size_t end);
void half_saxpy(const Call&, size_t begin, size_t end);
void take(const Call&, size_t begin, size_t end);
void gather(const Call&, size_t begin, size_t end);
void transpose(const Call&, size_t begin, size_t end);
void stencil3d(const Call&, size_t begin, size_t end);
void conv3x3_f32(const Call&, size_t begin, size_t end);
void conv3x3_u8(const Call&, size_t begin, size_t end);
// Sums and products.
void reduce(const Call&, size_t begin, size_t end);
void reduce_tree(const Call&, size_t begin, size_t end);
void scan_blocks(const Call&, size_t begin, size_t end);
void dot64(const Call&, size_t begin, size_t end);
void matvec(const Call&, size_t begin, size_t end);
void matvec_group(const Call&, size_t begin, size_t end);
void gemm(const Call&, size_t begin, size_t end);
void gemm_registers(const Call&, size_t begin, size_t end);
void spmv(const Call&, size_t begin, size_t end);
void fft(const Call&, size_t begin, size_t end);
// Integers.
void sha256(const Call&, size_t begin, size_t end);
void chacha20(const Call&, size_t begin, size_t end);
void crc32(const Call&, size_t begin, size_t end);
void intdiv32(const Call&, size_t begin, size_t end);
void divide64(const Call&, size_t begin, size_t end);
void primes_trial(const Call&, size_t begin, size_t end);
void collatz(const Call&, size_t begin, size_t end);
// Data-dependent control flow.
void strfind(const Call&, size_t begin, size_t end);
void histogram(const Call&, size_t begin, size_t end);
void histogram_local(const Call&, size_t begin, size_t end);
void bitonic_step(const Call&, size_t begin, size_t end);
void bitonic_local(const Call&, size_t begin, size_t end);
void bfs_step(const Call&, size_t begin, size_t end);
void loops(const Call&, size_t begin, size_t end);
void private_sort(const Call&, size_t begin, size_t end);
void private_shuffle(const Call&, size_t begin, size_t end);
void spill(const Call&, size_t begin, size_t end);

}  // namespace eum::perf::native
