// An image that is read and written, and images of depths.
kernel void invert(read_write image2d_t image) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const uint4 v = read_imageui(image, p);
  write_imageui(image, p, (uint4)(255u - v.x, v.z, v.y, v.w ^ 0x55u));
}

kernel void shadow(read_only image2d_depth_t depth, sampler_t s, global const float4 *at, global float *out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(depth, s, at[i].xy);
}
