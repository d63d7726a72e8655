// All places of a byte pattern: flags, count and the first place.
__kernel void strfind(__global const uchar* text, uint length, __constant uchar* pattern, uint pattern_length,
                      __global uchar* found, __global uint* count, __global uint* first) {
  uint i = get_global_id(0);
  if (i + pattern_length > length) return;
  uint k = 0;
  while (k < pattern_length && text[i + k] == pattern[k]) k++;
  bool all = k == pattern_length;
  found[i] = all ? 1 : 0;
  if (all) {
    atomic_inc(count);
    atomic_min(first, i);
  }
}
