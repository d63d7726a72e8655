// Program-scope constant tables (the inline constant surface) and a __constant argument.
__constant uint crc_table[16] = {
    0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
    0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
__constant float coefficient[5] = {1.0f, -0.5f, 0.25f, 0.125f, -0.0625f};
__constant short permutation[7] = {3, 6, 0, 5, 1, 4, 2};

__kernel void crc32(__global const uchar* data, uint bytes, __global uint* out) {
  uint i = get_global_id(0);
  uint crc = 0xffffffffu;
  for (uint k = 0; k < bytes; k++) {
    crc ^= data[i * bytes + k];
    crc = crc_table[crc & 15] ^ crc >> 4;
    crc = crc_table[crc & 15] ^ crc >> 4;
  }
  out[i] = ~crc;
}

__kernel void polynomial(__global const float* x, __constant float* scale, __global float* y, uint n) {
  uint i = get_global_id(0);
  float sum = 0;
  for (uint k = 0; k < n; k++) sum = fma(sum, x[i], coefficient[permutation[(i + k) % 7] % 5]);
  y[i] = sum * scale[i % 4];
}
