// OpenCL 2.0 program-scope variables: an initialised global table, a constant one, and a pointer to the first held in a
// variable (a relocation).
__global int state[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant int weight[4] = {10, 20, 30, 40};
__global int* __constant alias = &state[2];

__kernel void globals(__global const int* in, __global int* out) {
  uint i = get_global_id(0);
  out[i] = state[i & 7] * in[i] + weight[(i >> 1) & 3] + alias[i & 3];
}
