// Many accesses through many pointers, in front of and behind what these point to.

// A step of a gas on a lattice: each inner cell takes what its neighbours send it, and what it becomes goes to the
// nine planes of the next step.
__kernel void lattice(__global const float* f0, __global const float* f1, __global const float* f2,
                      __global const float* f3, __global const float* f4, __global const float* f5,
                      __global const float* f6, __global const float* f7, __global const float* f8,
                      __global float* g0, __global float* g1, __global float* g2, __global float* g3,
                      __global float* g4, __global float* g5, __global float* g6, __global float* g7,
                      __global float* g8, int w, float relax) {
  const int i = (get_global_id(1) + 1) * w + get_global_id(0) + 1;
  const float a0 = f0[i], a1 = f1[i - 1], a2 = f2[i - w], a3 = f3[i + 1], a4 = f4[i + w];
  const float a5 = f5[i - w - 1], a6 = f6[i - w + 1], a7 = f7[i + w + 1], a8 = f8[i + w - 1];
  const float rho = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8;
  const float u = a1 - a3 + a5 - a6 - a7 + a8, v = a2 - a4 + a5 + a6 - a7 - a8;
  const float straight = rho * 0.125f, across = rho * 0.0625f;
  g0[i] = a0 + relax * (rho * 0.25f - a0);
  g1[i] = a1 + relax * (straight + 0.25f * u - a1);
  g2[i] = a2 + relax * (straight + 0.25f * v - a2);
  g3[i] = a3 + relax * (straight - 0.25f * u - a3);
  g4[i] = a4 + relax * (straight - 0.25f * v - a4);
  g5[i] = a5 + relax * (across + 0.125f * (u + v) - a5);
  g6[i] = a6 + relax * (across + 0.125f * (v - u) - a6);
  g7[i] = a7 + relax * (across - 0.125f * (u + v) - a7);
  g8[i] = a8 + relax * (across + 0.125f * (u - v) - a8);
}

// Each work item goes along a row of its own, up in the one matrix and down in the other.
__kernel void row_products(__global const int* a, __global const int* b, __global int* out, int n) {
  const int i = get_global_id(0);
  int sum = 0;
  for (int k = 0; k < n; k++) sum = sum * 3 + a[i * n + k] * b[i * n + n - 1 - k];
  out[i] = sum;
}

// A pointer that goes on in a loop, and one that data chooses.
__kernel void chosen(__global const uint* a, __global const uint* b, __global uint* out, int n) {
  const int i = get_global_id(0);
  __global const uint* p = a + i * n;
  uint sum = 0;
  for (int k = 0; k < n; k++, p++) {
    __global const uint* from = (*p & 1) ? b : a;
    sum += from[(*p >> 1) % (uint)(get_global_size(0) * n)] ^ k;
  }
  out[i] = sum;
}
