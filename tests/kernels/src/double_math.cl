// Double precision: arithmetic, the division and root macros, roundings, conversions to and from 64-bit integers.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
__kernel void double_math(__global const double* a, __global const double* b, __global double* out) {
  uint i = get_global_id(0);
  double x = a[i], y = b[i];
  out += i * 8;
  out[0] = x / y;
  out[1] = sqrt(fabs(x));
  out[2] = fma(x, y, -1.0);
  out[3] = floor(x) + ceil(y);
  out[4] = x < y ? x : -y;
  out[5] = fmax(x, y) - trunc(x);
  out[6] = rint(x) * 0.5;
  out[7] = x * y + 3.0;
}

__kernel void double_convert(__global const double* in, __global const long* whole, __global long* out,
                             __global float* narrow, __global double* back) {
  uint i = get_global_id(0);
  double x = in[i];
  out += i * 4;
  out[0] = convert_long_sat(x);
  out[1] = convert_int_sat_rte(x);
  out[2] = convert_uint_sat(x);
  out[3] = convert_long_sat_rtn(x);
  narrow[i] = (float)x;
  back[i * 3] = (double)whole[i];
  back[i * 3 + 1] = convert_double_rtz((ulong)whole[i]);
  back[i * 3 + 2] = (double)(int)whole[i] + (double)narrow[i];
}
