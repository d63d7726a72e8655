// Builders, for any size, of the cases of kernels that were added to the corpus for performance comparisons.
// Only the corpus itself and the rows of perf include it.
#pragma once
#include "tests/kernels/case_parts.hpp"

namespace eum::kernels::work {

/// A sparse matrix with 1 to `most` elements per row, stored by rows.
struct SparseMatrix {
  std::vector<uint32_t> row;     ///< start of each row, and the end of the last one
  std::vector<uint32_t> column;  ///< of each element
};
SparseMatrix sparse_matrix(uint64_t seed, uint32_t rows, uint32_t most);

KernelCase spmv(uint32_t rows, uint32_t most);
/// About half of the nodes have a level.
KernelCase bfs_step(uint32_t nodes, uint32_t most);
/// Transforms of 512 points each.
KernelCase fft(uint32_t transforms);
KernelCase sha256(uint32_t items);
KernelCase chacha20(uint32_t items);
/// `length` bytes for each work item.
KernelCase crc32(uint32_t items, uint32_t length);
/// n by n matrices; n is a multiple of 16. `kernel`: gemm_naive, gemm_tiled or gemm_registers.
KernelCase gemm(const char* kernel, uint32_t n);
KernelCase triad(uint32_t items);
KernelCase half_saxpy(uint32_t items);
/// Gathers from `places` elements, chosen at random.
KernelCase take(uint32_t items, uint32_t places);
/// `items` is a multiple of 256.
KernelCase reduce_tree(uint32_t items);

/// lattice of pointers or pointers_a64, over all cells except the border.
KernelCase lattice(const char* file, uint32_t width, uint32_t height);

/// The names of the kernels of micro.cl and micro_subgroup.cl.
std::vector<std::string> micro_names();
/// One of them over `items` work items (a multiple of 256), each with `n` repetitions.
KernelCase micro(const std::string& kernel, uint32_t items, uint32_t n);

}  // namespace eum::kernels::work
