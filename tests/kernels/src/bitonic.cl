// One compare-exchange step of a bitonic sort in global memory, and a whole sort of 256 keys in SLM.
__kernel void bitonic_step(__global uint* keys, uint j, uint k) {
  uint i = get_global_id(0), other = i ^ j;
  if (other > i) {
    uint a = keys[i], b = keys[other];
    if (((i & k) == 0) == (a > b)) {
      keys[i] = b;
      keys[other] = a;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void bitonic_local(__global const int* in, __global int* out) {
  __local int keys[256];
  uint lid = get_local_id(0), base = get_group_id(0) * 256;
  keys[lid] = in[base + lid];
  keys[lid + 128] = in[base + lid + 128];
  for (uint k = 2; k <= 256; k *= 2)
    for (uint j = k / 2; j > 0; j /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      uint i = 2 * lid - (lid & (j - 1));
      int a = keys[i], b = keys[i + j];
      bool up = (i & k) == 0;
      keys[i] = up ? min(a, b) : max(a, b);
      keys[i + j] = up ? max(a, b) : min(a, b);
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + lid] = keys[lid];
  out[base + lid + 128] = keys[lid + 128];
}
