// Each item has a part of both buffers to itself. Without `restrict` the compiler must load and store one
// element after the other.
kernel void floats(global const float *from, global float *to) {
  const int i = get_global_id(0);
  for (int j = 0; j < 8; j++) to[8 * i + j] = from[8 * i + j] * 2 + j;
}

// Buffers that are shifted against each other are another matter: each element depends on the one before.
kernel void ints(global const int *from, global int *to) {
  const int i = get_global_id(0);
  for (int j = 0; j < 7; j++) to[8 * i + j] = from[8 * i + j] * 3 + 1;
}

kernel void words(global const ushort *from, global ushort *to) {
  const int i = get_global_id(0);
  for (int j = 0; j < 6; j++) to[6 * i + j] = from[6 * i + j] ^ (j << 13);
}

kernel void bytes(global const uchar *from, global uchar *to, int threshold) {
  const int i = get_global_id(0);
  for (int j = 0; j < 16; j++) {
    const uchar x = from[16 * i + j];
    to[16 * i + j] = x > threshold ? 255 - x : x + 1;
  }
}
