// Samplers that the program declares.
constant sampler_t repeat_linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t mirror_nearest = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t border_nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t border_linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
constant sampler_t edge_linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

kernel void declared(read_only image2d_t image, sampler_t given, global const float4 *at, global float4 *out) {
  const size_t i = get_global_id(0);
  const float2 p = at[i].xy, n = at[i].zw;
  out[i * 6] = read_imagef(image, repeat_linear, n);
  out[i * 6 + 1] = read_imagef(image, mirror_nearest, n);
  out[i * 6 + 2] = read_imagef(image, border_nearest, p);
  out[i * 6 + 3] = read_imagef(image, border_linear, p);
  out[i * 6 + 4] = read_imagef(image, edge_linear, p);
  out[i * 6 + 5] = read_imagef(image, given, n);
}
