// Every work-item function of three dimensions, with a global offset.
__kernel void ids(__global uint* out) {
  uint x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
       z = get_global_id(2) - get_global_offset(2);
  out += ((z * get_global_size(1) + y) * get_global_size(0) + x) * 16;
  for (uint d = 0; d < 3; d++) {
    out[d] = get_global_id(d);
    out[3 + d] = get_local_id(d);
    out[6 + d] = get_group_id(d);
    out[9 + d] = get_num_groups(d);
    out[12 + d] = get_local_size(d);
  }
  out[15] = get_work_dim();
}
