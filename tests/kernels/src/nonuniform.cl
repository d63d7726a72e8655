// OpenCL 2.0: the last group of a dimension may be smaller than the enqueued size.
__kernel void nonuniform(__global uint* out, __global uint* group_sum) {
  uint x = get_global_id(0), y = get_global_id(1);
  out += (y * get_global_size(0) + x) * 4;
  out[0] = get_local_size(0) | get_local_size(1) << 16;
  out[1] = get_enqueued_local_size(0) | get_enqueued_local_size(1) << 16;
  out[2] = get_global_linear_id();
  out[3] = get_local_linear_id();
  __local uint sum;
  if (get_local_linear_id() == 0) sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&sum, x * 31 + y);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_linear_id() == 0) group_sum[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = sum;
}
