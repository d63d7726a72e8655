// y = A x: one row a work item, and one row a group with the vector staged in SLM.
__kernel void matvec(__global const float* a, __global const float* x, __global float* y, int columns) {
  int row = get_global_id(0);
  float sum = 0;
  for (int j = 0; j < columns; j++) sum += a[row * columns + j] * x[j];
  y[row] = sum;
}

__kernel void matvec_group(__global const float* a, __global const float* x, __global float* y, int columns,
                           __local float* partial) {
  int row = get_group_id(0), lid = get_local_id(0), size = get_local_size(0);
  float sum = 0;
  for (int j = lid; j < columns; j += size) sum = fma(a[row * columns + j], x[j], sum);
  partial[lid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) {
    float total = 0;
    for (int k = 0; k < size; k++) total += partial[k];
    y[row] = total;
  }
}
