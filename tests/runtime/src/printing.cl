// What kernels print, in every form that the compiler writes into the printf buffer.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void scalars(int i, uint u, long l, float f, double d, half h) {
  printf("%d|%5d|%-5d|%05d|%+d|% d\n", i, i, i, i, i, i);
  printf("%u|%x|%X|%#x|%o|%#o|%.4x\n", u, u, u, u, u, u, u);
  printf("%ld|%lx|%lu\n", l, l, l);
  printf("%hhd|%hhu|%hd|%hu|%hx\n", i, i, i, i, i);
  printf("%f|%.2f|%10.3f|%-10.1f|%e|%G|%a\n", f, f, f, f, f, f, f);
  printf("%f|%.3e|%g|%A\n", d, d, d, d);
  printf("%f|%c|%%|%5c|%-3c|\n", h, 'x', 'y', 'z');
  printf("%s|%8s|%-8s|%.2s\n", "text", "text", "text", "text");
  printf("tab\t\"quoted\" back\\slash %d%%\n", i);
}

kernel void vectors(float4 f, int4 i, long2 l, double2 d, short8 s, uchar16 c) {
  printf("%v4f|%.1v4f|%v4hlf|%v4hlg\n", f, f, f, f);
  printf("%v4d|%v4hld|%v4hlx|%5v4hld|%-3v4hli|\n", i, i, i, i, i);
  printf("%v2ld|%v2lx\n", l, l);
  printf("%v2lf|%v2le\n", d, d);
  printf("%v8hd|%v8hx\n", s, s);
  printf("%v16hhd|%v16hhu|%#v16hhx\n", c, c, c);
  printf("%v3hld %v2hhx\n", i.xyz, c.s01);
}

kernel void pointers(global int* p) {
  constant char* text = p[0] != 0 ? "yes" : "no";
  printf("%p %s\n", p, text);
}

// The second and third have no conversion: C ignores them.
kernel void surplus(global int* p) {
  printf("surplus %d\n", p[0], 1.5f, (int2)(8, 9));
  printf("end\n");
}

kernel void many(int times) {
  for (int i = 0; i < times; ++i) printf("%d %v4hld\n", (int)get_global_id(0), (int4)(i));
}

kernel void faulty(long address) {
  if (get_global_id(0) < 32) printf("item %d\n", (int)get_global_id(0));
  if (get_global_id(0) == 40) *(global int*)address = 1;
}
