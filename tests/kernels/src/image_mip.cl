// Mip levels: the level of detail is given. (cl_khr_mipmap_image; the compiler takes it without the pragma.)
kernel void level_of_detail(read_only image2d_t image, sampler_t s, global const float4 *at, global float4 *out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, s, at[i].xy, at[i].z);
}

// A picture of all levels, one beside the other, each magnified to the size of the first.
kernel void levels(read_only image2d_t image, sampler_t s, write_only image2d_t out, int size) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const float2 n = (convert_float2((int2)(p.x % size, p.y)) + 0.5f) / (float)size;
  write_imagef(out, p, read_imagef(image, s, n, (float)(p.x / size)));
}

// The level of detail follows from gradients; they are along one axis, at[i].z and at[i].w.
kernel void gradients(read_only image2d_t image, sampler_t s, global const float4 *at, global float4 *out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, s, at[i].xy, (float2)(at[i].z, 0.0f), (float2)(0.0f, at[i].w));
}

kernel void level_count(read_only image2d_t image, global int *out) { out[get_global_id(0)] = get_image_num_mip_levels(image); }
