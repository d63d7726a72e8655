// One pass over memory: triad, saxpy on halves in memory, a gather by dword, and a sum by a tree in SLM.
__kernel void triad(__global const float* b, __global const float* c, __global float* a, float s) {
  uint i = get_global_id(0);
  a[i] = b[i] + s * c[i];
}

__kernel void half_saxpy(float a, __global const half* x, __global const half* y, __global half* out) {
  uint i = get_global_id(0);
  vstore_half(a * vload_half(i, x) + vload_half(i, y), i, out);
}

__kernel void take(__global const uint* index, __global const uint* in, __global uint* out) {
  uint i = get_global_id(0);
  out[i] = in[index[i]];
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce_tree(__global const int* in, __global int* out) {
  __local int sum[256];
  uint lid = get_local_id(0);
  sum[lid] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step /= 2) {
    if (lid < step) sum[lid] += sum[lid + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) out[get_group_id(0)] = sum[0];
}
