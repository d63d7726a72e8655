// What programs do with pictures.
constant sampler_t texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
constant float4 luma = (float4)(0.2126f, 0.7152f, 0.0722f, 0.0f);

// The weights of a row and of a column are binomial: 1 4 6 4 1.
kernel void gaussian_blur(read_only image2d_t in, write_only image2d_t out) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const float weight[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  float4 sum = (float4)(0.0f);
  for (int y = -2; y <= 2; y++)
    for (int x = -2; x <= 2; x++)
      sum += read_imagef(in, texels, p + (int2)(x, y)) * (weight[x + 2] * weight[y + 2]);
  write_imagef(out, p, sum);
}

kernel void sobel(read_only image2d_t in, write_only image2d_t out) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  float light[9];
  for (int i = 0; i < 9; i++)
    light[i] = dot(read_imagef(in, texels, p + (int2)(i % 3 - 1, i / 3 - 1)), luma);
  const float across = light[2] + 2.0f * light[5] + light[8] - light[0] - 2.0f * light[3] - light[6];
  const float down = light[6] + 2.0f * light[7] + light[8] - light[0] - 2.0f * light[1] - light[2];
  const float edge = clamp(sqrt(across * across + down * down), 0.0f, 1.0f);
  write_imagef(out, p, (float4)(edge, edge, edge, 1.0f));
}

kernel void resize(read_only image2d_t in, write_only image2d_t out) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const float2 size = (float2)((float)get_image_width(out), (float)get_image_height(out));
  write_imagef(out, p, read_imagef(in, smooth, (convert_float2(p) + 0.5f) / size));
}

// About the centre; what comes from outside is transparent.
kernel void rotate_picture(read_only image2d_t in, write_only image2d_t out, float cosine, float sine) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const float2 center = convert_float2(get_image_dim(in)) * 0.5f;
  const float2 d = convert_float2(p) + 0.5f - center;
  write_imagef(out, p, read_imagef(in, bordered, center + (float2)(cosine * d.x + sine * d.y, cosine * d.y - sine * d.x)));
}

// RGB to YCbCr, of full range (BT.709).
kernel void to_ycbcr(read_only image2d_t in, write_only image2d_t out) {
  const int2 p = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const float4 c = read_imagef(in, texels, p);
  const float y = dot(c, luma);
  write_imagef(out, p, (float4)(y, (c.z - y) / 1.8556f + 0.5f, (c.x - y) / 1.5748f + 0.5f, c.w));
}

// 16 bins a channel of red, green, blue; counts[48].
kernel void image_histogram(read_only image2d_t in, global uint *counts) {
  const uint4 c = read_imageui(in, texels, (int2)((int)get_global_id(0), (int)get_global_id(1)));
  atomic_inc(&counts[c.x >> 4]);
  atomic_inc(&counts[16 + (c.y >> 4)]);
  atomic_inc(&counts[32 + (c.z >> 4)]);
}
