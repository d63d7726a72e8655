// Global fences and barriers: a group hands values through global memory, neighbour by neighbour.
__kernel void fence(__global uint* data, uint rounds) {
  uint lid = get_local_id(0), size = get_local_size(0);
  volatile __global uint* mine = data + get_group_id(0) * size;
  for (uint r = 0; r < rounds; r++) {
    uint next = mine[(lid + 1) % size];
    barrier(CLK_GLOBAL_MEM_FENCE);
    mine[lid] = next * 2654435761u + lid;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  }
}
