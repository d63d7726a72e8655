// What single things cost: `n` times the same thing a work item, its count beside a thread's own start and end.
__kernel void empty(__global uint* out, uint n) {
  if (n == 12345u) out[get_global_id(0)] = n;
}

__kernel void store_one(__global uint* out) { out[get_global_id(0)] = 7; }

__kernel void copy_one(__global const uint* in, __global uint* out) { out[get_global_id(0)] = in[get_global_id(0)]; }

__kernel void barriers(__global uint* out, uint n) {
  for (uint k = 0; k < n; k++) barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = n;
}

// Written, waited for, read from the neighbour, waited for.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void slm_exchange(__global uint* out, uint n) {
  __local uint t[256];
  uint lid = get_local_id(0), x = lid;
  for (uint k = 0; k < n; k++) {
    t[lid] = x + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    x += t[(lid + 1) & 255];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = x;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void slm_atomic_own(__global uint* out, uint n) {
  __local uint t[256];
  uint lid = get_local_id(0);
  t[lid] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < n; k++) atomic_add(&t[(lid + k) & 255], k);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[lid];
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void slm_atomic_one(__global uint* out, uint n) {
  __local uint t;
  if (get_local_id(0) == 0) t = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < n; k++) atomic_add(&t, k);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t;
}

__kernel void global_atomic_one(__global uint* out, uint n) {
  for (uint k = 0; k < n; k++) atomic_inc(out);
}

__kernel void global_atomic_own(__global uint* out, uint n) {
  for (uint k = 0; k < n; k++) atomic_add(&out[get_global_id(0)], k);
}

// The places come from a generator, so that no compiler takes the loop apart; `mask` keeps them in the cache.
#define NEXT(h) h = h * 1664525u + 1013904223u

__kernel void read_random(__global const uint* in, __global uint* out, uint n, uint mask) {
  uint i = get_global_id(0), s = 0, h = i * 2654435761u;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[(h >> 8) & mask];
  }
  out[i] = s;
}

__kernel void read_consecutive(__global const uint* in, __global uint* out, uint n, uint mask) {
  uint i = get_global_id(0), s = 0, h = 77;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[(i & 255) + ((h >> 8) & mask)];
  }
  out[i] = s;
}

__kernel void read_uniform(__global const uint* in, __global uint* out, uint n, uint mask) {
  uint i = get_global_id(0), s = 0, h = 77;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[(h >> 8) & mask] ^ i;
  }
  out[i] = s;
}

// Consecutive, but for one channel that is off.
__kernel void read_masked(__global const uint* in, __global uint* out, uint n, uint mask) {
  uint i = get_global_id(0), s = 0, h = 77;
  if ((i & 31) == 5) return;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[(i & 255) + ((h >> 8) & mask)];
  }
  out[i] = s;
}

__kernel void read_bytes(__global const uchar* in, __global uint* out, uint n, uint mask) {
  uint i = get_global_id(0), s = 0, h = 77;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[(i & 255) + ((h >> 8) & mask)];
  }
  out[i] = s;
}

__kernel void read_stride4(__global const uint* in, __global uint* out, uint n, uint mask) {
  uint i = get_global_id(0), s = 0, h = 77;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[4 * (i & 63) + ((h >> 8) & mask)];
  }
  out[i] = s;
}

__kernel void read_float4(__global const float4* in, __global float4* out, uint n, uint mask) {
  uint i = get_global_id(0), h = 77;
  float4 s = 0;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    s += in[(i & 63) + ((h >> 8) & mask)];
  }
  out[i] = s;
}

__kernel void write_random(__global uint* out, uint n, uint mask) {
  uint h = (uint)get_global_id(0) * 2654435761u;
  for (uint k = 0; k < n; k++) {
    NEXT(h);
    out[(h >> 8) & mask] = 1;
  }
}

__kernel void write_consecutive(__global uint* out, uint n) {
  uint i = get_global_id(0), size = get_global_size(0);
  for (uint k = 0; k < n; k++) out[k * size + i] = k;
}

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void fma64(__global double* out, uint n, double a, double b) {
  uint i = get_global_id(0);
  double x = i;
  for (uint k = 0; k < n; k++) x = fma(x, a, b);
  out[i] = x;
}

__kernel void mul64(__global ulong* out, uint n, ulong a, ulong b) {
  uint i = get_global_id(0);
  ulong x = i;
  for (uint k = 0; k < n; k++) x = x * a + (b ^ (x >> 7));
  out[i] = x;
}

__kernel void divergent(__global uint* out, uint n) {
  uint i = get_global_id(0), x = i;
  for (uint k = 0; k < n; k++) {
    if (x & 1) x = x * 3 + 1;
    else x = (x >> 1) ^ k;
  }
  out[i] = x;
}

__kernel void div32(__global uint* out, uint n, uint d) {
  uint i = get_global_id(0), x = i;
  for (uint k = 0; k < n; k++) x = (x + k * 977u) / (d + (x & 7)) + k;
  out[i] = x;
}

__kernel void mad32(__global float* out, uint n, float a, float b) {
  uint i = get_global_id(0);
  float x = i, y = i + 1, z = i + 2, w = i + 3;
  for (uint k = 0; k < n; k++) x = fma(x, a, b), y = fma(y, a, b), z = fma(z, a, b), w = fma(w, a, b);
  out[i] = x + y + z + w;
}
