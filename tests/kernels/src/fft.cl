// A complex Fourier transform of 512 points a group, radix 2 (Stockham), in SLM.
#define POINTS 512
__kernel __attribute__((reqd_work_group_size(POINTS / 2, 1, 1)))
void fft(__global const float2* in, __global float2* out, __global const float2* turn) {
  __local float2 point[2][POINTS];
  uint lid = get_local_id(0), base = get_group_id(0) * POINTS, now = 0;
  point[0][lid] = in[base + lid];
  point[0][lid + POINTS / 2] = in[base + lid + POINTS / 2];
  for (uint size = 1; size < POINTS; size *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = lid & (size - 1), to = (lid - k) * 2 + k;
    float2 w = turn[k * (POINTS / 2 / size)];
    float2 x = point[now][lid], y = point[now][lid + POINTS / 2];
    y = (float2)(w.x * y.x - w.y * y.y, w.x * y.y + w.y * y.x);
    now = 1 - now;
    point[now][to] = x + y;
    point[now][to + size] = x - y;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + lid] = point[now][lid];
  out[base + lid + POINTS / 2] = point[now][lid + POINTS / 2];
}
