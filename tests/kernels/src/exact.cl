// Quotients and roots that must be correctly rounded: compiled with -cl-fp32-correctly-rounded-divide-sqrt.
kernel void divide(global const float* a, global const float* b, global float* out) {
  const size_t i = get_global_id(0);
  out[i] = a[i] / b[i];
}

kernel void reciprocal(global const float* a, global float* out) {
  const size_t i = get_global_id(0);
  out[i] = 1.0f / a[i];
}

kernel void root(global const float* a, global float* out) {
  const size_t i = get_global_id(0);
  out[i] = sqrt(a[i]);
}
