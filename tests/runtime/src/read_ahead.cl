// Uniform loads of two and three dwords from constant memory.
__kernel void load2(__constant const uint* c, uint first, __global uint* out) {
  uint2 v = vload2(0, c + first);
  uint i = get_global_id(0) * 2;
  out[i] = v.x;
  out[i + 1] = v.y;
}

__kernel void load3(__constant const uint* c, uint first, __global uint* out) {
  uint3 v = vload3(0, c + first);
  uint i = get_global_id(0) * 3;
  out[i] = v.x;
  out[i + 1] = v.y;
  out[i + 2] = v.z;
}

// The compiler makes one block of 16 bytes of these three dwords.
__kernel void block3(__constant const uint* c, uint factor, __global uint* out) {
  out[get_global_id(0)] = c[0] + c[1] * factor + c[2] * 7;
}

// The bytes that there are, one by one.
__kernel void bytes(__constant const uchar* c, uint count, __global uint* out) {
  uint sum = 0;
  for (uint i = 0; i < count; ++i) sum = sum * 31 + c[i];
  out[get_global_id(0)] = sum;
}
