// 32-bit saturation, high products and bit counts.
__kernel void bits32(__global const int* a, __global const int* b, __global int* s, __global uint* u) {
  uint i = get_global_id(0);
  int x = a[i], y = b[i];
  uint ux = x, uy = y;
  s += i * 8;
  u += i * 8;
  s[0] = add_sat(x, y);
  s[1] = sub_sat(x, y);
  s[2] = mul_hi(x, y);
  s[3] = mad_hi(x, y, x);
  s[4] = mad24(x & 0x7fffff, y & 0xff, x);
  s[5] = hadd(x, y) - rhadd(x, y);
  s[6] = x >> (uy & 31);
  s[7] = mad_sat(x, y, x);
  u[0] = add_sat(ux, uy);
  u[1] = sub_sat(ux, uy);
  u[2] = mul_hi(ux, uy);
  u[3] = clz(ux) | popcount(uy) << 8 | popcount(clz(uy)) << 16;
  u[4] = rotate(ux, uy);
  u[5] = abs_diff(x, y);
  u[6] = abs(x) ^ hadd(ux, uy);
  u[7] = bitselect(ux, uy, 0x0ff0f00fu) + mul24(ux & 0xffffff, 77u);
}
