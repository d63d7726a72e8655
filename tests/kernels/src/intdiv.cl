// Division and remainder of 8, 16 and 32 bits, by variables and by constants.
__kernel void intdiv8(__global const char* a, __global const char* b, __global char* s, __global uchar* u) {
  uint i = get_global_id(0);
  uchar ua = a[i], ub = b[i];
  s[i * 2] = a[i] / b[i];
  s[i * 2 + 1] = a[i] % b[i];
  u[i * 2] = ua / ub;
  u[i * 2 + 1] = ua % ub;
}

__kernel void intdiv16(__global const short* a, __global const short* b, __global short* s, __global ushort* u) {
  uint i = get_global_id(0);
  ushort ua = a[i], ub = b[i];
  s[i * 2] = a[i] / b[i];
  s[i * 2 + 1] = a[i] % b[i];
  u[i * 2] = ua / ub;
  u[i * 2 + 1] = ua % ub;
}

__kernel void intdiv32(__global const int* a, __global const int* b, int c, __global int* s, __global uint* u) {
  uint i = get_global_id(0);
  uint ua = a[i], ub = b[i];
  s[i * 4] = a[i] / b[i];
  s[i * 4 + 1] = a[i] % b[i];
  s[i * 4 + 2] = a[i] / 7 + a[i] % -1000;
  s[i * 4 + 3] = a[i] / c - a[i] % c;
  u[i * 4] = ua / ub;
  u[i * 4 + 1] = ua % ub;
  u[i * 4 + 2] = ua / 7 + ua % 1000;
  u[i * 4 + 3] = ua / (uint)c - ua % (uint)c;
}
