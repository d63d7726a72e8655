// 7-point stencil on a 3-D range; the border is copied.
__kernel void stencil3d(__global const float* in, __global float* out, float center, float around) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
  int i = (z * ny + y) * nx + x;
  float here = in[i];
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    out[i] = here;
    return;
  }
  out[i] = center * here +
           around * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny]);
}
