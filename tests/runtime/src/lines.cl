// A kernel whose line table says where each instruction comes from (-g).
__kernel void lines(__global const int* in, __global int* out, int n) {
  int i = get_global_id(0);
  int sum = 0;
  for (int k = 0; k < n; k++) {
    sum += in[i] * k;
  }
  if (sum > 10)
    sum = sum / 3;
  out[i] = sum;
}
