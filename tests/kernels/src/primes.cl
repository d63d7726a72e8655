// Trial division, and a sieve in which several work items may store the same 1.
__kernel void primes_trial(uint first, __global uchar* prime, __global uint* smallest_factor) {
  uint n = first + get_global_id(0);
  uint factor = n;
  if (n > 2 && (n & 1) == 0) factor = 2;
  else
    for (uint d = 3; d * d <= n; d += 2)
      if (n % d == 0) {
        factor = d;
        break;
      }
  prime[get_global_id(0)] = n >= 2 && factor == n;
  smallest_factor[get_global_id(0)] = factor;
}

__kernel void primes_sieve(__global uchar* composite, uint n) {
  uint p = get_global_id(0) + 2;
  for (uint m = p * p; m < n; m += p) composite[m] = 1;
}
