// What kernels can ask of images.
#define FORMAT(image) (get_image_channel_data_type(image) | get_image_channel_order(image) << 16)

kernel void query(read_only image1d_t a, read_only image2d_t b, read_only image3d_t c, read_only image1d_array_t d,
                  write_only image2d_array_t e, read_only image1d_buffer_t f, global int *out) {
  if (get_global_id(0) != 0) return;
  out[0] = get_image_width(a);
  out[1] = FORMAT(a);
  out[2] = get_image_width(b);
  out[3] = get_image_height(b);
  const int2 size = get_image_dim(b);
  out[4] = size.x * 1000 + size.y;
  out[5] = FORMAT(b);
  out[6] = get_image_width(c);
  out[7] = get_image_height(c);
  out[8] = get_image_depth(c);
  const int4 volume = get_image_dim(c);
  out[9] = (volume.x * 100 + volume.y) * 100 + volume.z;
  out[10] = FORMAT(c);
  out[11] = get_image_width(d);
  out[12] = (int)get_image_array_size(d);
  out[13] = FORMAT(d);
  out[14] = get_image_width(e);
  out[15] = get_image_height(e);
  out[16] = (int)get_image_array_size(e);
  out[17] = FORMAT(e);
  out[18] = get_image_width(f);
  out[19] = FORMAT(f);
}
