// What the payload says of images. No kernel here reads or writes one.
kernel void queries(read_only image2d_t a, global int *o) {
  if (get_global_id(0) != 0) return;
  o[0] = get_image_width(a);
  o[1] = get_image_height(a);
  o[2] = get_image_channel_data_type(a);
  o[3] = get_image_channel_order(a);
}

kernel void more(read_only image1d_t a, read_only image3d_t b, read_only image1d_array_t c, write_only image2d_array_t d,
                 read_only image1d_buffer_t e, read_only image2d_depth_t f, global int *o) {
  if (get_global_id(0) != 0) return;
  o[0] = get_image_width(a);
  o[1] = get_image_width(b);
  o[2] = get_image_height(b);
  o[3] = get_image_depth(b);
  o[4] = get_image_width(c);
  o[5] = (int)get_image_array_size(c);
  o[6] = get_image_height(d);
  o[7] = (int)get_image_array_size(d);
  o[8] = get_image_width(e);
  o[9] = get_image_channel_order(f);
}
