// Byte histogram: global atomics, and SLM atomics flushed by global ones.
__kernel void histogram_global(__global const uchar* in, __global uint* bins, uint n) {
  uint i = get_global_id(0);
  if (i < n) atomic_inc(&bins[in[i]]);
}

__kernel void histogram_local(__global const uchar* in, __global uint* bins, uint n) {
  __local uint mine[256];
  uint lid = get_local_id(0), size = get_local_size(0);
  for (uint b = lid; b < 256; b += size) mine[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = lid; b < 256; b += size)
    if (mine[b]) atomic_add(&bins[b], mine[b]);
}
