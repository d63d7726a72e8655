// Division of 64 bits, which compilers make loops of: in loops, of numbers that all items share, where some do it.
__kernel void power_modulo(__global const ulong* base, ulong modulus, __global ulong* power) {
  uint i = get_global_id(0);
  ulong result = 1 % modulus, square = base[i] % modulus;
  for (uint exponent = i * 7; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result * square % modulus;
    square = square * square % modulus;
  }
  power[i] = result;
}

__kernel void divide_by_one(__global const ulong* a, ulong divisor, __global ulong* quotient) {
  uint i = get_global_id(0);
  quotient[i] = a[i] / divisor;
}

__kernel void divide_once(ulong a, ulong divisor, __global ulong* result) {
  uint i = get_global_id(0);
  result[i] = a / divisor + a % divisor * i;
}

__kernel void divide_some(__global const ulong* a, __global const ulong* divisor, __global ulong* result) {
  uint i = get_global_id(0);
  ulong left = a[i];
  if (divisor[i] > 3) left = left / divisor[i] + 1;
  if (i & 1) left += (long)left % (long)(divisor[i] | 1);
  result[i] = left;
}

__kernel void digits(__global const ulong* a, ulong base, __global uint* sum) {
  uint i = get_global_id(0), digits = 0;
  for (ulong left = a[i]; left != 0; left /= base) digits += (uint)(left % base);
  sum[i] = digits;
}
