// 64-bit integers: eight results a work item in each array.
__kernel void arith64(__global const long* a, __global const long* b, __global long* s, __global ulong* u) {
  uint i = get_global_id(0);
  long x = a[i], y = b[i];
  ulong ux = x, uy = y;
  uint n = (uint)uy & 63;
  s += i * 8;
  u += i * 8;
  s[0] = x + y;
  s[1] = x - y;
  s[2] = x * y;
  s[3] = mul_hi(x, y);
  s[4] = x >> n;
  s[5] = x << n;
  s[6] = x < y ? x : -y;
  s[7] = abs(x) + (x == y ? 7 : 3);
  u[0] = ux * uy + 12345;
  u[1] = mul_hi(ux, uy);
  u[2] = ux >> n;
  u[3] = rotate(ux, uy);
  u[4] = ux > uy ? ux ^ uy : ux | uy;
  u[5] = clz(ux) * 256 + popcount(uy);
  u[6] = (ulong)(uint)ux * (uint)uy;
  u[7] = ~ux & uy;
}

__kernel void divide64(__global const long* a, __global const long* b, __global long* s, __global ulong* u) {
  uint i = get_global_id(0);
  long x = a[i], y = b[i];
  ulong ux = x, uy = y;
  s[i * 2] = x / y;
  s[i * 2 + 1] = x % y;
  u[i * 2] = ux / uy;
  u[i * 2 + 1] = ux % uy;
}
