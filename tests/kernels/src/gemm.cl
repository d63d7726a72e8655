// Products of square matrices in three ways: an element a work item, tiles in SLM, 4 by 4 elements a work item.
__kernel void gemm_naive(__global const float* a, __global const float* b, __global float* c, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

#define TILE 16
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void gemm_tiled(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float ta[TILE][TILE], tb[TILE][TILE];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0;
  for (int from = 0; from < n; from += TILE) {
    ta[ly][lx] = a[y * n + from + lx];
    tb[ly][lx] = b[(from + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += ta[ly][k] * tb[k][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

__kernel void gemm_registers(__global const float* a, __global const float4* b, __global float4* c, int n) {
  int x = get_global_id(0), y = get_global_id(1) * 4, quads = n / 4;
  float4 r0 = 0, r1 = 0, r2 = 0, r3 = 0;
  for (int k = 0; k < n; k++) {
    float4 v = b[k * quads + x];
    r0 += a[y * n + k] * v;
    r1 += a[(y + 1) * n + k] * v;
    r2 += a[(y + 2) * n + k] * v;
    r3 += a[(y + 3) * n + k] * v;
  }
  c += y * quads + x;
  c[0] = r0;
  c[quads] = r1;
  c[2 * quads] = r2;
  c[3 * quads] = r3;
}
