// Double precision dot product: one partial sum a group.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void dot64(__global const double* a, __global const double* b, __global double* out,
                    __local double* partial, uint n) {
  uint lid = get_local_id(0);
  double sum = 0;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += a[i] * b[i];
  partial[lid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (lid < step) partial[lid] += partial[lid + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) out[get_group_id(0)] = partial[0];
}
