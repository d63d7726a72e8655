// Groups of fewer work items than a thread has channels, and single work items.

// A product of matrices in tiles of the group's size, through local memory.
__kernel void group_tile(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float ta[64], tb[64];
  const int size = get_local_size(0), x = get_local_id(0), y = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < n; t += size) {
    ta[y * size + x] = a[row * n + t + x];
    tb[y * size + x] = b[(t + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; k++) sum += ta[y * size + k] * tb[k * size + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

// Work items part and come back, and look at what all of their group have counted.
__kernel void group_walk(__global const uint* in, __global uint* out) {
  __local uint steps[32];
  const uint i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  uint x = in[i], count = 0;
  while (x > 1 && count < 60) {
    x = (x & 1) ? 3 * x + 1 : x >> 1;
    count++;
  }
  steps[l] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (uint k = 0; k < size; k++) sum += steps[k] * (k + 1);
  out[i] = sum ^ x;
}

// All by one work item.
__kernel void task(__global const float* in, __global float* sums, __global uint* sorted, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    sum = sum * 0.5f + in[i];
    sums[i] = sum;
  }
  for (int i = 1; i < n; i++) {
    const uint v = sorted[i];
    int j = i;
    while (j > 0 && sorted[j - 1] > v) {
      sorted[j] = sorted[j - 1];
      j--;
    }
    sorted[j] = v;
  }
}
