// Indirect loads and stores of every element size.
__kernel void gather(__global const uint* index, __global const uchar* bytes, __global const ushort* words,
                     __global const uint* dwords, __global const ulong* qwords, __global uchar* out_bytes,
                     __global ushort* out_words, __global uint* out_dwords, __global ulong* out_qwords) {
  uint i = get_global_id(0), k = index[i];
  out_bytes[k] = bytes[i] + 1;
  out_words[k] = words[k] ^ 0x55aa;
  out_dwords[i] = dwords[k] - i;
  out_qwords[k] = qwords[i] + dwords[i];
}
