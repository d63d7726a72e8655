// Reads of images, one a work item: each dimension, kind of coordinate and type of result. With SIMD defined in subgroups of
// that size.
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel void
#else
#define KERNEL kernel void
#endif

#define READ(name, image_type, function, out_type, at_type, coordinate)                                   \
  KERNEL name(read_only image_type image, sampler_t s, global const at_type *at, global out_type *out) { \
    const size_t i = get_global_id(0);                                                                    \
    const at_type p = at[i];                                                                              \
    out[i] = function(image, s, coordinate);                                                              \
  }
#define READS(dimension, image_type, coordinate)                                                \
  READ(read##dimension##_f_at, image_type, read_imagef, float4, float4, coordinate)             \
  READ(read##dimension##_ui_at, image_type, read_imageui, uint4, float4, coordinate)            \
  READ(read##dimension##_i_at, image_type, read_imagei, int4, float4, coordinate)               \
  READ(read##dimension##_f_texel, image_type, read_imagef, float4, int4, coordinate)            \
  READ(read##dimension##_ui_texel, image_type, read_imageui, uint4, int4, coordinate)           \
  READ(read##dimension##_i_texel, image_type, read_imagei, int4, int4, coordinate)

READS(2d, image2d_t, p.xy)
READS(3d, image3d_t, p)

#ifndef SIMD
READS(1d, image1d_t, p.x)
READS(1d_array, image1d_array_t, p.xy)
READS(2d_array, image2d_array_t, p)

// Without a sampler.
#define PLAIN(dimension, image_type, function, out_type, kind, coordinate)                                             \
  KERNEL plain##dimension##_##kind(read_only image_type image, global const int4 *at, global out_type *out) {         \
    const size_t i = get_global_id(0);                                                                                 \
    const int4 p = at[i];                                                                                              \
    out[i] = function(image, coordinate);                                                                              \
  }
#define PLAINS(dimension, image_type, coordinate)                          \
  PLAIN(dimension, image_type, read_imagef, float4, f, coordinate)         \
  PLAIN(dimension, image_type, read_imageui, uint4, ui, coordinate)        \
  PLAIN(dimension, image_type, read_imagei, int4, i, coordinate)

PLAINS(1d, image1d_t, p.x)
PLAINS(2d, image2d_t, p.xy)
PLAINS(3d, image3d_t, p)
PLAINS(1d_array, image1d_array_t, p.xy)
PLAINS(2d_array, image2d_array_t, p)
PLAINS(1d_buffer, image1d_buffer_t, p.x)
#endif
