// Two kernels of one program with different arguments, over the same buffer.
__kernel void pair_square(__global int* data, int bias) {
  uint i = get_global_id(0);
  data[i] = data[i] * data[i] + bias;
}

__kernel void pair_neighbours(__global const int* data, __global short* out, uchar shift, uint n) {
  uint i = get_global_id(0);
  int left = i > 0 ? data[i - 1] : 0, right = i + 1 < n ? data[i + 1] : 0;
  out[i] = (short)((left - right) >> shift);
}
