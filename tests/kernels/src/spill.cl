// More live values than there are registers: the compiler spills to scratch.
#define N 176
__kernel void spill(__global const uint* in, __global uint* out, uint rounds) {
  uint i = get_global_id(0);
  uint v[N];
#pragma unroll
  for (int k = 0; k < N; k++) v[k] = in[k] ^ (i * (2 * k + 1));
  for (uint r = 0; r < rounds; r++) {
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = v[(k * 5 + 3) % N] + rotate(v[k], (uint)(k % 31 + 1));
  }
  uint h = 0;
#pragma unroll
  for (int k = 0; k < N; k++) h = h * 33 ^ v[k];
  out[i] = h;
}
