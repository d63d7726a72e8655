// Integer atomics on global memory and on SLM, return values used and unused.
__kernel void atomics_global(__global const int* in, __global int* s, __global uint* u, __global uint* ticket) {
  uint i = get_global_id(0);
  int x = in[i];
  atomic_add(&s[0], x);
  atomic_sub(&s[1], x);
  atomic_inc(&s[2]);
  atomic_dec(&s[3]);
  atomic_min(&s[4], x);
  atomic_max(&s[5], x);
  atomic_min(&u[0], (uint)x);
  atomic_max(&u[1], (uint)x);
  atomic_and(&u[2], (uint)x | 0xffffu);
  atomic_or(&u[3], (uint)x & 0xf0f0f0u);
  atomic_xor(&u[4], (uint)x);
  uint seen = u[5], was;
  do {
    was = seen;
    seen = atomic_cmpxchg(&u[5], was, was * (2 * i + 3));
  } while (seen != was);
  ticket[atomic_inc(&u[6])] = 1;
}

__kernel void atomics_local(__global const int* in, __global int* out) {
  __local int slot[8];
  __local volatile int chain, passed;
  uint lid = get_local_id(0), group = get_group_id(0);
  if (lid < 8) slot[lid] = lid == 5 ? -1 : 0;
  if (lid == 0) chain = passed = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = in[get_global_id(0)];
  atomic_add(&slot[0], x);
  atomic_sub(&slot[1], x);
  atomic_min(&slot[2], x);
  atomic_max(&slot[3], x);
  atomic_or(&slot[4], x);
  atomic_and(&slot[5], x | 0xff00ff);
  atomic_xor(&slot[6], x);
  atomic_inc(&slot[7]);
  atomic_add(&passed, atomic_xchg(&chain, x));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < 8) out[group * 9 + lid] = slot[lid];
  if (lid == 0) out[group * 9 + 8] = passed + chain;
}

// Adds floats by compare and exchange; the values are small integers, so that no order rounds.
__kernel void atomics_float(__global const float* in, volatile __global float* sum) {
  uint i = get_global_id(0);
  volatile __global uint* word = (volatile __global uint*)&sum[i & 3];
  uint seen = *word, was;
  do {
    was = seen;
    seen = atomic_cmpxchg(word, was, as_uint(as_float(was) + in[i]));
  } while (seen != was);
}
