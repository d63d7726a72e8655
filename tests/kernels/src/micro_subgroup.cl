// What single things of sub-groups cost. 16 channels.
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void block_copy(__global const uint* in, __global uint* out, uint n) {
  uint at = get_global_id(0) / 16 * 128;
  uint8 s = 0;
  for (uint k = 0; k < n; k++) {
    s += intel_sub_group_block_read8(in + at);
    intel_sub_group_block_write8(out + at, s);
  }
}

__attribute__((intel_reqd_sub_group_size(16)))
__kernel void sub_group_sum(__global uint* out, uint n) {
  uint i = get_global_id(0), x = i;
  for (uint k = 0; k < n; k++) x = sub_group_reduce_add(x) + k;
  out[i] = x;
}
