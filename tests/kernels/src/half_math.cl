// cl_khr_fp16 arithmetic: scalars, and vectors with a comparison.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
__kernel void half_math(__global const half* a, __global const half* b, __global half* out) {
  uint i = get_global_id(0);
  half x = a[i], y = b[i];
  out += i * 8;
  out[0] = x + y;
  out[1] = x - y;
  out[2] = x * y;
  out[3] = fma(x, y, (half)0.5h);
  out[4] = fmin(x, y);
  out[5] = x < y ? x : -y;
  out[6] = fabs(x) + floor(y);
  out[7] = convert_half(convert_int(x)) + (half)get_local_id(1);
}

__kernel void half_axpy4(half a, __global const half4* x, __global half4* y) {
  uint i = get_global_id(0);
  half4 v = fma((half4)(a), x[i], y[i]);
  y[i] = v.x > v.w ? v : v.wzyx;
}
