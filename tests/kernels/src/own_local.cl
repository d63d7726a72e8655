// Local memory of which each work item uses a part of its own, so that nobody waits; nor does a loop remain.
__kernel void own_local(__global const uint* in, __global uint* out) {
  __local uint parts[96 * 8];
  uint gid = get_global_id(0);
  __local uint* mine = parts + get_local_id(0) * 8;
  uint x = in[gid];
  __attribute__((opencl_unroll_hint(8)))
  for (uint i = 0; i < 8; i++) mine[i] = (x * (2 * i + 1)) ^ i;
  out[gid] = mine[x & 7] + mine[x >> 3 & 7] * 31;
}
