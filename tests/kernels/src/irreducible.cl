// A flow graph with a loop of two entries, which no if/while nest expresses.
__kernel void irreducible(__global const uint* in, __global uint* out) {
  uint i = get_global_id(0);
  uint x = in[i], n = 0, h = x;
  if (x & 1) goto odd;
even:
  h = h * 5 + n;
  if (++n > (x & 31) + 4) goto end;
  if (h & 8) goto even;
odd:
  h ^= h >> 7;
  h += n * 3;
  if (++n > 40) goto end;
  if (h & 2) goto odd;
  if (h & 16) goto even;
  h++;
  goto odd;
end:
  out[i] = h ^ n;
}
