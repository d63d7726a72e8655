// Every kind of argument and implicit payload that Gen9 kernels carry.
__constant float table[4] = {1, 2, 3, 4};
constant sampler_t inline_sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t linear_sampler = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;

__kernel void locals(__global int* o, __local int* a, __local float* b, int n) {
  __local int mine[64];
  int l = get_local_id(0);
  a[l] = o[get_global_id(0)];
  b[l] = a[l];
  mine[l & 63] = n;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[get_global_id(0)] = a[(l + 1) % get_local_size(0)] + (int)b[l] + mine[(l + 7) & 63] + (int)table[l & 3];
}

__kernel void images(__read_only image2d_t i, __write_only image2d_t w, sampler_t s, __read_only image3d_t v,
                     __global int* dims) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  float4 f = read_imagef(i, s, convert_float2(p)) + read_imagef(i, inline_sampler, p) +
             read_imagef(v, inline_sampler, (int4)(p, 0, 0)) + read_imagef(i, linear_sampler, convert_float2(p));
  write_imagef(w, p, f);
  dims[0] = get_image_width(i);
  dims[1] = get_image_height(w);
  dims[2] = get_image_depth(v);
  dims[3] = get_image_channel_order(i);
  dims[4] = get_image_channel_data_type(w);
}

__kernel void sizes(__global uint* o) {
  size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  o[i] = get_num_groups(0) + get_num_groups(1) * 1000 + get_num_groups(2) + get_work_dim() + get_local_size(2) +
         get_global_offset(1) + get_group_id(2) + get_enqueued_local_size(1);
}

__kernel void prints(__global int* o) { printf("x %d\n", o[get_global_id(0)]); }

__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void required(__global int* o) {
  o[get_global_linear_id()] = get_local_linear_id();
}
