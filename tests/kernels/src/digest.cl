// SHA-256 of one block, the ChaCha20 stream and CRC-32, one message a work item.
__constant uint sha_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// Words, not bytes: the state after one block of 16 words.
__kernel void sha256(__global const uint* in, __global uint* out) {
  uint i = get_global_id(0);
  uint w[16];
#pragma unroll
  for (int k = 0; k < 16; k++) w[k] = in[i * 16 + k];
  uint a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
  uint e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll
  for (int k = 0; k < 64; k++) {
    if (k >= 16) {
      uint x = w[(k + 1) & 15], y = w[(k + 14) & 15];
      w[k & 15] += w[(k + 9) & 15] + (rotate(x, 25u) ^ rotate(x, 14u) ^ (x >> 3)) +
                   (rotate(y, 15u) ^ rotate(y, 13u) ^ (y >> 10));
    }
    uint t = h + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) + (g ^ (e & (f ^ g))) + sha_constant[k] + w[k & 15];
    uint u = (rotate(a, 30u) ^ rotate(a, 19u) ^ rotate(a, 10u)) + ((a & b) | (c & (a | b)));
    h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
  }
  out += i * 8;
  out[0] = a + 0x6a09e667, out[1] = b + 0xbb67ae85, out[2] = c + 0x3c6ef372, out[3] = d + 0xa54ff53a;
  out[4] = e + 0x510e527f, out[5] = f + 0x9b05688c, out[6] = g + 0x1f83d9ab, out[7] = h + 0x5be0cd19;
}

#define QUARTER(a, b, c, d)                    \
  a += b, d = rotate(d ^ a, (uint4)(16));      \
  c += d, b = rotate(b ^ c, (uint4)(12));      \
  a += b, d = rotate(d ^ a, (uint4)(8));       \
  c += d, b = rotate(b ^ c, (uint4)(7))

// 64 bytes a work item, counted from `counter`.
__kernel void chacha20(__global const uint4* in, __global uint4* out, uint4 key0, uint4 key1, uint counter, uint nonce) {
  uint i = get_global_id(0);
  uint4 a = (uint4)(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574), b = key0, c = key1;
  uint4 d = (uint4)(counter + i, nonce, nonce + 1, nonce + 2);
  uint4 a0 = a, d0 = d;
  for (int round = 0; round < 10; round++) {
    QUARTER(a, b, c, d);
    b = b.yzwx, c = c.zwxy, d = d.wxyz;
    QUARTER(a, b, c, d);
    b = b.wxyz, c = c.zwxy, d = d.yzwx;
  }
  in += i * 4, out += i * 4;
  out[0] = in[0] ^ (a + a0);
  out[1] = in[1] ^ (b + key0);
  out[2] = in[2] ^ (c + key1);
  out[3] = in[3] ^ (d + d0);
}

__kernel void crc32(__global const uchar* data, __constant uint* table, __global uint* out, uint length) {
  uint i = get_global_id(0), crc = ~0u;
  for (uint k = 0; k < length; k++) crc = table[(crc ^ data[i * length + k]) & 255] ^ (crc >> 8);
  out[i] = ~crc;
}
