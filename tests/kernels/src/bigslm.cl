// 48 KB of SLM in vectors, bytes and words, so that one group takes most of a subslice.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void bigslm(__global const uint4* in, __global uint4* out, __global uint* digest) {
  __local uint4 wide[2048];
  __local uchar bytes[8192];
  __local ushort words[4096];
  uint lid = get_local_id(0);
  for (uint k = lid; k < 2048; k += 256) wide[k] = in[k] + k;
  for (uint k = lid; k < 8192; k += 256) bytes[k] = (uchar)(k * 7);
  for (uint k = lid; k < 4096; k += 256) words[k] = (ushort)(k * 40503u);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint h = 0;
  for (uint k = 0; k < 8; k++) {
    uint j = (lid * 37 + k * 211) & 2047;
    uint4 v = wide[j];
    v.y ^= bytes[(j * 4 + 3) & 8191];
    v.z += words[(j * 2 + 1) & 4095];
    h = h * 31 + v.x + v.y + v.z + v.w;
    out[lid * 8 + k] = v;
  }
  digest[lid] = h;
}
