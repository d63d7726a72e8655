// Halves come from the sampler and go to a surface.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void darken(read_only image2d_t in, sampler_t s, write_only image2d_t out) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const half4 v = read_imageh(in, s, convert_float2(p) + 0.5f);
  write_imageh(out, p, v * (half)0.5f);
}
