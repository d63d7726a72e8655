// Conversions between floats and integers with every rounding mode, saturating where out of range is fed.
__kernel void convert_from_float(__global const float* in, __global int* out, __global uchar* bytes,
                                 __global short* words) {
  uint i = get_global_id(0);
  float x = in[i];
  out += i * 8;
  out[0] = convert_int_sat(x);
  out[1] = convert_int_sat_rte(x);
  out[2] = convert_int_sat_rtp(x);
  out[3] = convert_int_sat_rtn(x);
  out[4] = as_int(convert_uint_sat(x));
  out[5] = as_int(convert_uint_sat_rte(x));
  out[6] = as_int(floor(x) + ceil(x));
  out[7] = as_int(rint(x) - trunc(x));
  bytes[i * 2] = convert_uchar_sat(x);
  bytes[i * 2 + 1] = convert_uchar_sat_rte(x);
  words[i * 2] = convert_short_sat(x);
  words[i * 2 + 1] = convert_short_sat_rte(x);
}

__kernel void convert_to_float(__global const int* in, __global float* out) {
  uint i = get_global_id(0);
  int x = in[i];
  out += i * 8;
  out[0] = convert_float_rte(x);
  out[1] = convert_float_rtz(x);
  out[2] = convert_float_rtp(x);
  out[3] = convert_float_rtn(x);
  out[4] = convert_float_rte((uint)x);
  out[5] = convert_float_rtz((uint)x);
  out[6] = (float)(char)x;
  out[7] = (float)(ushort)x;
}

__kernel void convert_int64(__global const float* in, __global const long* whole, __global long* out,
                           __global float* back) {
  uint i = get_global_id(0);
  out[i * 2] = convert_long_sat(in[i]);
  out[i * 2 + 1] = as_long(convert_ulong_sat_rte(in[i]));
  back[i * 2] = convert_float_rte(whole[i]);
  back[i * 2 + 1] = convert_float_rtz((ulong)whole[i]);
}
