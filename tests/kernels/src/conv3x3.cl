// 3x3 convolution: float with clamped edges, and bytes with zero edges, rounding and saturation.
__kernel void conv3x3_f32(__global const float* in, __global float* out, __constant float* weight, int width,
                          int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int sx = clamp(x + dx, 0, width - 1), sy = clamp(y + dy, 0, height - 1);
      sum += in[sy * width + sx] * weight[(dy + 1) * 3 + dx + 1];
    }
  out[y * width + x] = sum;
}

__kernel void conv3x3_u8(__global const uchar* in, __global uchar* out, __constant char* weight, int width,
                         int height, int shift) {
  int x = get_global_id(0), y = get_global_id(1);
  int sum = 1 << (shift - 1);
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int sx = x + dx, sy = y + dy;
      if (sx >= 0 && sx < width && sy >= 0 && sy < height)
        sum += in[sy * width + sx] * weight[(dy + 1) * 3 + dx + 1];
    }
  out[y * width + x] = convert_uchar_sat(sum >> shift);
}
