// Vectors of 8 and 16-bit integers: saturation, high products, rotations, averages, bit counts.
#define OPS(T, U)                                                      \
  out += i * 12;                                                       \
  out[0] = x + y;                                                      \
  out[1] = add_sat(x, y);                                              \
  out[2] = sub_sat(x, y);                                              \
  out[3] = mul_hi(x, y);                                               \
  out[4] = x * y;                                                      \
  out[5] = rotate(x, y);                                               \
  out[6] = hadd(x, y) ^ rhadd(y, x);                                   \
  out[7] = clz(x) + popcount(y);                                       \
  out[8] = min(x, y) - max(x, y);                                      \
  out[9] = as_##T(abs_diff(x, y));                                     \
  out[10] = select(x, y, x > y);                                       \
  out[11] = mad_sat(x, y, x);

#define KERNEL(T)                                                                                     \
  __kernel void packed_##T(__global const T* a, __global const T* b, __global T* out) {               \
    uint i = get_global_id(0);                                                                        \
    T x = a[i], y = b[i];                                                                             \
    OPS(T, T)                                                                                         \
  }
KERNEL(char4)
KERNEL(uchar4)
KERNEL(short2)
KERNEL(ushort2)
