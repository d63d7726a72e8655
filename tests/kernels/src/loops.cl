// Nested loops whose trip counts differ by channel, with break and continue at both levels.
#ifdef SIMD
__attribute__((intel_reqd_sub_group_size(SIMD)))
#endif
__kernel void loops(__global const uint* in, __global uint* out, uint rounds) {
  uint i = get_global_id(0);
  uint x = in[i], sum = 0;
  for (uint a = 0; a < (x & 15) + rounds; a++) {
    if ((a ^ x) % 5 == 0) continue;
    uint y = x * (a + 1);
    for (uint b = 0; b < 20; b++) {
      y = y * 1664525u + 1013904223u;
      if ((y >> 28) == 3) continue;
      if ((y >> 27) == 9) break;
      sum += y >> 16;
      if (sum > 3000000u) goto done;
    }
    if ((y & 0xff) == 17) break;
    do {
      y ^= y << 3;
      sum ^= y;
    } while ((y & 3) == 1 && (sum & 64));
  }
done:
  out[i] = sum;
}
