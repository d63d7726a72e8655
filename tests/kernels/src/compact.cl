// Stream compaction: survivors take a slot from an atomic counter, so their order is free.
__kernel void compact(__global const uint* in, uint n, uint threshold, __global uint* out, __global uint* count) {
  uint i = get_global_id(0);
  if (i >= n) return;
  uint x = in[i];
  if (x >= threshold) out[atomic_inc(count)] = x;
}
