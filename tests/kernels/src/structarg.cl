// Aggregates and vectors by value, next to scalars of every size.
typedef struct {
  int a;
  float b;
  short c;
  char d;
  uchar e[3];
  long f;
  float4 v;
} Params;

__kernel void structarg(Params p, __global float* out, float4 v, int3 w, char c, __global int* whole, ushort s,
                        ulong q, uchar8 bytes) {
  uint i = get_global_id(0);
  float4 m = p.v * v;
  out[i] = (m.x + m.y + m.z + m.w) * p.b + (float)i;
  whole[i * 4] = p.a + w.x * w.y - w.z + (int)i;
  whole[i * 4 + 1] = p.c * c + p.d + s;
  whole[i * 4 + 2] = (int)(q >> (i & 31)) + (int)(p.f >> 3);
  whole[i * 4 + 3] = p.e[i % 3] + bytes.s0 - bytes.s7 * bytes.s3;
}
