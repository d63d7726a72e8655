// Atomic additions of floats, as programs for OpenCL 1.2 do them. The values are small integers, so that no
// order rounds.
float add_loaded(volatile __global float* place, float value) {
  union {
    uint bits;
    float number;
  } old, sum;
  do {
    old.number = *place;
    sum.number = old.number + value;
  } while (atomic_cmpxchg((volatile __global uint*)place, old.bits, sum.bits) != old.bits);
  return old.number;
}

void add_seen(volatile __global float* place, float value) {
  union {
    uint bits;
    float number;
  } sum, expected, current;
  current.number = *place;
  do {
    expected.number = current.number;
    sum.number = value + expected.number;
    current.bits = atomic_cmpxchg((volatile __global uint*)place, expected.bits, sum.bits);
  } while (current.bits != expected.bits);
}

void add_local(volatile __local float* place, float value) {
  union {
    uint bits;
    float number;
  } old, sum;
  do {
    old.number = *place;
    sum.number = old.number + value;
  } while (atomic_cmpxchg((volatile __local uint*)place, old.bits, sum.bits) != old.bits);
}

// Of those with the same remainder, and in several steps each.
__kernel void sums_of_bins(__global const float* in, __global const uint* bins, volatile __global float* sums,
                           uint steps) {
  uint i = get_global_id(0);
  for (uint step = 0; step < steps; ++step) add_loaded(&sums[bins[i] % 7], in[i] * step);
}

__kernel void sum_of_all(__global const float* in, volatile __global float* sum) {
  uint i = get_global_id(0);
  add_seen(&sum[0], in[i]);
  if (in[i] > 0) add_seen(&sum[1 + (i & 3)], in[i]);
}

__kernel void sums_of_groups(__global const float* in, __global float* out) {
  __local float sums[4];
  uint l = get_local_id(0);
  if (l < 4) sums[l] = l;
  barrier(CLK_LOCAL_MEM_FENCE);
  add_local(&sums[l % 3], in[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 4) out[4 * get_group_id(0) + l] = sums[l];
}

// What was there before is used.
__kernel void tickets(volatile __global float* next, __global float* out) {
  out[get_global_id(0)] = add_loaded(next, 1.0f);
}
