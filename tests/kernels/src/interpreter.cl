// A small machine with a switch in a loop: each work item runs its own program over private registers.
__kernel void interpreter(__global const uint* code, uint length, __global const uint* seed, __global uint* out) {
  uint i = get_global_id(0);
  uint r[8];
  for (uint k = 0; k < 8; k++) r[k] = seed[i] + k * 0x9e3779b9u;
  uint pc = i % length, budget = 64;
  while (budget-- > 0) {
    uint op = code[pc];
    uint d = (op >> 8) & 7, a = (op >> 16) & 7, b = (op >> 24) & 7;
    pc = pc + 1 == length ? 0 : pc + 1;
    switch (op & 15) {
      case 0: r[d] = r[a] + r[b]; break;
      case 1: r[d] = r[a] - r[b]; break;
      case 2: r[d] = r[a] * r[b]; break;
      case 3: r[d] = r[a] ^ r[b]; break;
      case 4: r[d] = r[a] << (r[b] & 31); break;
      case 5: r[d] = r[a] >> (r[b] & 31); break;
      case 6: r[d] = rotate(r[a], r[b]); break;
      case 7: r[d] = r[a] | 1; r[a] = r[d] % ((r[b] & 0xffff) + 1);
      case 8: r[d] += 3; break;
      case 9: if (r[a] & 1) pc = (pc + b) % length; break;
      case 10: r[d] = popcount(r[a]) + clz(r[b]); break;
      case 11: if ((r[a] & 0xff) == 0) budget = 0; break;
      default: r[d] = ~r[a]; break;
    }
  }
  uint h = 0;
  for (uint k = 0; k < 8; k++) h = h * 31 + r[k];
  out[i] = h;
}
