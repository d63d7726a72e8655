// Pictures of bytes and sounds of words: what is computed of them takes more bits than they have.
kernel void pixels(global const uchar16 *a, global const uchar16 *b, global uchar16 *to) {
  const int i = get_global_id(0);
  const uchar16 x = a[i], y = b[i];
  to[5 * i] = convert_uchar16((convert_ushort16(x) * (ushort)77 + convert_ushort16(y) * (ushort)179) >> (ushort)8);
  to[5 * i + 1] = hadd(x, y);
  to[5 * i + 2] = rhadd(x, y);
  to[5 * i + 3] = convert_uchar16_sat(convert_short16(x) * (short)3 - (short)50);
  to[5 * i + 4] = convert_uchar16(convert_int16(x) + (((convert_int16(y) - convert_int16(x)) * 77) >> 8));
}

kernel void sounds(global const short8 *a, global const short8 *b, global short8 *to) {
  const int i = get_global_id(0);
  const short8 x = a[i], y = b[i];
  to[4 * i] = convert_short8((convert_int8(x) * 19661 + 16384) >> 15);
  to[4 * i + 1] = hadd(x, y);
  to[4 * i + 2] = add_sat(x, y);
  to[4 * i + 3] = mul_hi(x, y);
}

// Laplace's operator over neighbours that are read as words, overlaid on the picture.
kernel void edges(global const uchar *from, global uchar *to, int width) {
  const int x = get_global_id(0), y = get_global_id(1);
  global const uchar *p = from + y * (width + 2) + x;
  const int w = width + 2;
  const int around = p[0] + p[1] + p[2] + p[w] + p[w + 2] + p[2 * w] + p[2 * w + 1] + p[2 * w + 2];
  const int edge = clamp(9 * p[w + 1] - around, 0, 255), under = p[w + 1];
  to[y * width + x] = under < 128 ? under * edge >> 7 : 255 - ((255 - under) * (255 - edge) >> 7);
}
