// Kernels that do what they must not.
kernel void deadlock(global int* p) {
  p[get_global_id(0)] = 1;
  if (get_local_id(0) >= 32) barrier(CLK_GLOBAL_MEM_FENCE);
  p[get_global_id(0)] = 2;
}

// Ends only when another changes p[0].
kernel void endless(volatile global int* p) {
  p[1 + get_global_id(0)] = 7;
  while (p[0] == 0) p[1 + get_global_id(0)] = 8;
}

// Work items from 40 on write to addresses that are not theirs.
kernel void overrun(global int* p, long address) {
  p[get_global_id(0)] = (int)get_global_id(0);
  if (get_global_id(0) > 39) ((global int*)address)[get_global_id(0)] = 1;
}
