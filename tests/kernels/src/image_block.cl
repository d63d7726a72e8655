// cl_intel_subgroups and cl_intel_subgroups_short: blocks of an image, bytes of a row to the work items of a subgroup.
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable

#define SIXTEEN __attribute__((intel_reqd_sub_group_size(16)))
#define EIGHT __attribute__((intel_reqd_sub_group_size(8)))

// The first byte of the block that a subgroup of a row of groups takes, and its first row.
#define PLACE(bytes, rows) (int2)((int)(get_group_id(0) * bytes), (int)(get_group_id(1) * rows))

#define COPY(name, attribute, lanes, bytes, rows, suffix)                                     \
  attribute kernel void name(read_only image2d_t in, write_only image2d_t out) {              \
    const int2 p = PLACE(lanes * bytes, rows);                                                \
    intel_sub_group_block_write##suffix(out, p, intel_sub_group_block_read##suffix(in, p));   \
  }

COPY(copy_16, SIXTEEN, 16, 4, 1, )
COPY(copy2_16, SIXTEEN, 16, 4, 2, 2)
COPY(copy4_16, SIXTEEN, 16, 4, 4, 4)
COPY(copy8_16, SIXTEEN, 16, 4, 8, 8)
COPY(copy_8, EIGHT, 8, 4, 1, )
COPY(copy8_8, EIGHT, 8, 4, 8, 8)
COPY(copy_us_16, SIXTEEN, 16, 2, 1, _us)
COPY(copy_us4_16, SIXTEEN, 16, 2, 4, _us4)
COPY(copy_us8_8, EIGHT, 8, 2, 8, _us8)

// Blocks that reach beyond the edges of the image.
SIXTEEN kernel void edges(read_only image2d_t in, global uint *out, int x, int y) {
  const uint4 v = intel_sub_group_block_read4(in, (int2)(x, y));
  const uint lane = get_sub_group_local_id();
  out[lane] = v.x;
  out[lane + 16] = v.y;
  out[lane + 32] = v.z;
  out[lane + 48] = v.w;
}
