// A function that another module would define: leaves a symbol without address.
int helper(int a, __global int* p);
__kernel void external(__global int* o, int n) { o[get_global_id(0)] = helper(n, o); }
__kernel void alone(__global int* o) { o[get_global_id(0)] = 1; }
