// Inclusive scan of blocks of 128 (Hillis and Steele, two SLM buffers), then the block sums added back.
#define BLOCK 128
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_blocks(__global const uint* in, __global uint* out, __global uint* sums, uint n) {
  __local uint buffer[2][BLOCK];
  uint gid = get_global_id(0), lid = get_local_id(0), now = 0;
  buffer[0][lid] = gid < n ? in[gid] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = 1; d < BLOCK; d *= 2) {
    uint x = buffer[now][lid];
    if (lid >= d) x += buffer[now][lid - d];
    buffer[1 - now][lid] = x;
    now = 1 - now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (gid < n) out[gid] = buffer[now][lid];
  if (lid == BLOCK - 1) sums[get_group_id(0)] = buffer[now][lid];
}

__kernel void scan_add(__global uint* data, __global const uint* sums, uint n) {
  uint gid = get_global_id(0), block = gid / BLOCK;
  uint before = 0;
  for (uint b = 0; b < block; b++) before += sums[b];
  if (gid < n) data[gid] += before;
}
