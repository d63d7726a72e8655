// A sparse matrix by rows (CSR): its product with a vector, and one level of a breadth-first search.
__kernel void spmv(__global const uint* row, __global const uint* column, __global const float* value,
                   __global const float* x, __global float* y) {
  uint i = get_global_id(0);
  float sum = 0;
  for (uint k = row[i]; k < row[i + 1]; k++) sum += value[k] * x[column[k]];
  y[i] = sum;
}

// Who has no level yet looks for a neighbour of the last one.
__kernel void bfs_step(__global const uint* row, __global const uint* column, __global const int* before,
                       __global int* after, int depth) {
  uint i = get_global_id(0);
  int level = before[i];
  if (level < 0)
    for (uint k = row[i]; k < row[i + 1]; k++)
      if (before[column[k]] == depth) {
        level = depth + 1;
        break;
      }
  after[i] = level;
}
