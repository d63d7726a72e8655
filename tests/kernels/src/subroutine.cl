// Functions that the compiler must not inline: call and ret, under divergence.
__attribute__((noinline)) uint mix(uint a, uint b) {
  for (uint k = 0; k < (b & 7); k++) a = rotate(a, 5u) + b;
  return a;
}

__attribute__((noinline)) uint twist(uint x, uint y) {
  if (x & 1) return mix(x ^ y, y) + 1;
  return mix(y, x >> 3);
}

__kernel void subroutine(__global const uint* in, __global uint* out) {
  uint i = get_global_id(0);
  uint x = in[i], h = i;
  for (uint k = 0; k < (x & 3) + 1; k++) h = twist(h + k, x);
  if (h & 4) h = mix(h, x);
  out[i] = h;
}
