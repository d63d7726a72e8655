// Writes of images: a texel a work item.
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

#define WRITE(dimension, image_type, function, value_type, kind, coordinate)                              \
  kernel void write##dimension##_##kind(write_only image_type image, global const value_type *value) {   \
    const int x = (int)get_global_id(0), y = (int)get_global_id(1), z = (int)get_global_id(2);            \
    const size_t i = (z * get_global_size(1) + y) * get_global_size(0) + x;                               \
    function(image, coordinate, value[i]);                                                                \
  }
#define WRITES(dimension, image_type, coordinate)                            \
  WRITE(dimension, image_type, write_imagef, float4, f, coordinate)          \
  WRITE(dimension, image_type, write_imageui, uint4, ui, coordinate)         \
  WRITE(dimension, image_type, write_imagei, int4, i, coordinate)

WRITES(1d, image1d_t, x)
WRITES(2d, image2d_t, (int2)(x, y))
WRITES(3d, image3d_t, (int4)(x, y, z, 0))
WRITES(1d_array, image1d_array_t, (int2)(x, y))
WRITES(2d_array, image2d_array_t, (int4)(x, y, z, 0))
WRITES(1d_buffer, image1d_buffer_t, x)
