// Steps to 1 and the peak, in 64-bit integers; divergent trip counts.
__kernel void collatz(ulong start, __global uint* steps, __global ulong* peak, uint limit) {
  uint i = get_global_id(0);
  ulong n = start + i, high = n;
  uint s = 0;
  while (n != 1 && s < limit) {
    n = (n & 1) ? 3 * n + 1 : n >> 1;
    high = max(high, n);
    s++;
  }
  steps[i] = s;
  peak[i] = high;
}
