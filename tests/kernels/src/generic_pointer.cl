// OpenCL 2.0 generic pointers: one load site that meets SLM, global and private memory.
__attribute__((noinline)) int pick(const int* p, uint k) { return p[k] * 2 + 1; }

__kernel void generic_pointer(__global const int* in, __global int* out) {
  __local int shared_copy[64];
  int mine[4];
  uint i = get_global_id(0), lid = get_local_id(0);
  shared_copy[lid] = in[i] ^ 0xff;
  for (uint k = 0; k < 4; k++) mine[k] = in[i] + (int)k;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int* p = (i % 3 == 0) ? (const int*)shared_copy : (i % 3 == 1) ? (const int*)(in + i - lid) : (const int*)mine;
  out[i] = pick(p, i % 3 == 2 ? lid & 3 : 63 - lid);
}
