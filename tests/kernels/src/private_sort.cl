// Private arrays with dynamic indices: a small one (indirectly addressed registers) and one too large for registers.
__kernel void private_sort(__global const int* in, __global int* out, uint n) {
  uint i = get_global_id(0);
  int a[48];
  for (uint k = 0; k < n; k++) a[k] = in[i * n + k];
  for (uint k = 1; k < n; k++) {
    int x = a[k];
    int j = (int)k - 1;
    while (j >= 0 && a[j] > x) {
      a[j + 1] = a[j];
      j--;
    }
    a[j + 1] = x;
  }
  for (uint k = 0; k < n; k++) out[i * n + k] = a[k];
}

// A permutation of 0..255 shuffled by the key (the set-up of RC4), then a digest of it, in private memory.
__kernel void private_shuffle(__global const uchar* key, uint key_length, __global uint* out) {
  uint i = get_global_id(0);
  uint box[256];
  for (uint k = 0; k < 256; k++) box[k] = k;
  uint j = 0;
  for (uint k = 0; k < 256; k++) {
    j = (j + box[k] + key[i * key_length + k % key_length]) & 255;
    uint t = box[k];
    box[k] = box[j];
    box[j] = t;
  }
  uint h = 0;
  for (uint k = 0; k < 256; k++) h = h * 31 + (box[box[k]] ^ k);
  out[i] = h;
}
