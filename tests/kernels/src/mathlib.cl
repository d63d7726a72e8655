// The float library: exact functions, accurate functions, and the native ones that map onto the math box.
__kernel void math_exact(__global const float* a, __global const float* b, __global float* out) {
  uint i = get_global_id(0);
  float x = a[i], y = b[i];
  out += i * 8;
  out[0] = fma(x, y, 1.0f);
  out[1] = fmin(x, y) + fmax(x, y);
  out[2] = trunc(x) - round(y);
  out[3] = fmod(x, y);
  out[4] = copysign(x, y);
  out[5] = clamp(x, -1.0f, 1.0f);
  out[6] = isless(x, y) + 2 * isnan(x) + 4 * signbit(y);
  out[7] = ldexp(x, 3) + floor(y);
}

__kernel void math_accurate(__global const float* a, __global const float* b, __global float* out) {
  uint i = get_global_id(0);
  float x = a[i], y = b[i];
  out += i * 8;
  out[0] = x / y;
  out[1] = sqrt(x);
  out[2] = rsqrt(x);
  out[3] = exp(y);
  out[4] = log(x);
  out[5] = cbrt(x);
  out[6] = exp2(y);
  out[7] = log2(x);
}

__kernel void math_trig(__global const float* a, __global float* out) {
  uint i = get_global_id(0);
  float x = a[i];
  out += i * 6;
  out[0] = sin(x);
  out[1] = cos(x);
  out[2] = tan(x);
  out[3] = atan(x);
  out[4] = tanh(x);
  out[5] = hypot(x, 2.0f);
}

__kernel void math_native(__global const float* a, __global const float* b, __global float* out) {
  uint i = get_global_id(0);
  float x = a[i], y = b[i];
  out += i * 8;
  out[0] = native_divide(x, y);
  out[1] = native_sqrt(x);
  out[2] = native_rsqrt(x);
  out[3] = native_recip(y);
  out[4] = native_exp2(y);
  out[5] = native_log2(x);
  out[6] = native_powr(x, y);
  out[7] = native_sin(y) * native_cos(y);
}

__kernel void math_power(__global const float* a, __global const float* b, __global float* out) {
  uint i = get_global_id(0);
  float x = a[i], y = b[i];
  out += i * 4;
  out[0] = pow(x, y);
  out[1] = powr(x, -y);
  out[2] = pown(-x, convert_int(y));
  out[3] = exp10(y);
}
