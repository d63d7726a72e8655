// Sub-group reductions, scans, broadcasts, votes, shuffles and block loads. SIMD is the sub-group size.
__kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
void subgroup_reduce(__global const int* in, __global int* out) {
  uint i = get_global_id(0);
  int x = in[i];
  out += i * 8;
  out[0] = sub_group_reduce_add(x);
  out[1] = sub_group_reduce_min(x);
  out[2] = sub_group_reduce_max(x);
  out[3] = sub_group_scan_inclusive_add(x);
  out[4] = sub_group_scan_exclusive_add(x);
  out[5] = sub_group_scan_exclusive_max(x);
  out[6] = sub_group_broadcast(x, 3);
  out[7] = (sub_group_any(x > 900) ? 1 : 0) | (sub_group_all(x > -900) ? 2 : 0) | get_sub_group_local_id() << 8 |
           get_sub_group_id() << 16 | get_sub_group_size() << 24;
}

__kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
void subgroup_shuffle(__global const uint* in, __global const uint* lane, __global uint* out) {
  uint i = get_global_id(0);
  uint x = in[i], y = in[i ^ 1];
  out += i * 5;
  out[0] = intel_sub_group_shuffle(x, lane[i]);
  out[1] = intel_sub_group_shuffle_xor(x, 5);
  out[2] = intel_sub_group_shuffle_down(x, y, 3);
  out[3] = intel_sub_group_shuffle_up(x, y, 2);
  out[4] = intel_sub_group_shuffle(x, 6);
}

#if SIMD < 32  // the compiler has no block loads in SIMD32
__kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
void subgroup_block(__global const uint* in, __global uint* out) {
  uint base = get_group_id(0) * get_local_size(0) * 4 + get_sub_group_id() * SIMD * 4;
  uint4 x = intel_sub_group_block_read4(in + base);
  uint y = intel_sub_group_block_read(in + base);
  intel_sub_group_block_write4(out + base, x * 3 + y + (uint4)(0, 1, 2, 3));
}
#endif
