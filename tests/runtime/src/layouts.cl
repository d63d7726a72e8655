// Payload layouts: without local ids, scratch, flattened structures, small values, SIMD8 with a walk order.
__kernel void nolocal(__global int* o) { o[0] = 42; }

__kernel void big(__global int* o, int n) {
  int a[20000];
  for (int i = 0; i < n; i++) a[i * 7 % 20000] = o[i];
  int s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  o[get_global_id(0)] = s;
}

struct S {
  char c;
  short s;
  int i;
  long l;
  float4 f;
};
__kernel void structure(struct S s, __global float* o, char c, short h, uchar3 u) {
  o[get_global_id(0)] = s.c + s.s + s.i + s.l + s.f.y + c + h + u.z;
}

__attribute__((intel_reqd_sub_group_size(8))) __kernel void order(__global int* o) {
  o[get_local_id(0) + get_local_id(1)] = get_sub_group_id();
}

__kernel void unused(int a, __global int* b, __local int* c, __global int* o) { o[get_global_id(0)] = 1; }
