// Half precision as a storage format: no cl_khr_fp16 needed.
__kernel void half_load(__global const half* in, __global float* out, __global float4* out4) {
  uint i = get_global_id(0);
  out[i] = vload_half(i, in) * 2.0f;
  if ((i & 3) == 0) out4[i / 4] = vload_half4(i / 4, in);
}

__kernel void half_store(__global const float* in, __global half* nearest, __global half* zero, __global half* up,
                         __global half* down) {
  uint i = get_global_id(0);
  float x = in[i];
  vstore_half_rte(x, i, nearest);
  vstore_half_rtz(x, i, zero);
  vstore_half_rtp(x, i, up);
  vstore_half_rtn(x, i, down);
}
