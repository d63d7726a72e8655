// Vector loads and stores: packed triples, wide vectors, unaligned vload, swizzles, run-time component index.
__kernel void vectors_triple(__global const float* in, __global float* out) {
  uint i = get_global_id(0);
  float3 v = vload3(i, in);
  vstore3(v.zxy * 2.0f, i, out);
}

__kernel void vectors_wide(__global const int8* in, __global int8* out, __global const uchar16* bytes,
                           __global uchar16* out_bytes) {
  uint i = get_global_id(0);
  int8 v = in[i];
  out[i] = (int8)(v.odd, v.even) + v.s76543210;
  uchar16 b = bytes[i];
  out_bytes[i] = b.sfedcba9876543210 + (uchar16)(3);
}

__kernel void vectors_unaligned(__global const uchar* bytes, __global const short* words, __global int* out) {
  uint i = get_global_id(0);
  uchar4 b = vload4(0, bytes + i);
  short2 w = vload2(0, words + i);
  int2 pair = (int2)(b.x + (b.y << 8) + (b.z << 16) + (b.w << 24), w.x - w.y);
  vstore2(pair, i, out);
}

// Scatter of single components, so that writes carry partial channel masks.
__kernel void vectors_components(__global const float4* in, __global float4* out) {
  uint i = get_global_id(0);
  float4 v = in[i];
  out[i].xy = v.zw;
  if (v.x > 0) out[i].w = v.x;
}

__kernel void vectors_index(__global const uint* index, __global const int* in, __global int* out) {
  uint i = get_global_id(0);
  int v[16];
  for (int k = 0; k < 16; k++) v[k] = in[k] * (int)(i + 1);
  uint p = index[i];
  v[(p >> 4) & 15] = -1;
  v[(p >> 8) & 15] += 5;
  int sum = v[p & 15];
  for (int k = 0; k < 16; k++) sum = sum * 3 + v[k];
  out[i] = sum;
}
