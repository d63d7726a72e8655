// Each work item has a row, or a part of a buffer, to itself, and walks along it.
kernel void scale(global const float *from, global const float *factors, global const float *offsets,
                  global float *to, int length) {
  const int row = get_global_id(0);
  const float factor = factors[row];
  for (int i = 0; i < length; i++) to[row * length + i] = from[row * length + i] * factor + offsets[i];
}

kernel void average(global const uchar *a, global const uchar *b, global uchar *to, int length) {
  const int row = get_global_id(0);
  for (int i = 0; i < length; i++) to[row * length + i] = (a[row * length + i] + b[row * length + i]) / 2;
}

// Through a table, in place.
kernel void look_up(global ushort *rows, global const ushort *table, uint length) {
  const uint row = get_global_id(0);
  for (uint i = 0; i < length; i++) rows[row * length + i] = table[rows[row * length + i] & 255];
}

// The last item's part may be shorter.
kernel void parts(global const int *from, global int *to, int count, int each) {
  const int begin = get_global_id(0) * each, end = min(begin + each, count);
  for (int i = begin; i < end; i++) to[i] = from[i] * 3 + (i - begin);
}

// Numbers of 8 bits, summed up.
kernel void dots(global const char *rows, global const char *with, global int *to, int length) {
  const int row = get_global_id(0);
  int sum = 0;
  for (int i = 0; i < length; i++) sum += rows[row * length + i] * with[i];
  to[row] = sum;
}

// Each element less the one before it; the counter has 64 bits.
kernel void differences(global const int *from, global int *to, int length) {
  const size_t row = get_global_id(0);
  int before = 0;
  for (size_t i = 0; i < length; i++) {
    const int now = from[row * length + i];
    to[row * length + i] = now - before;
    before = now;
  }
}

kernel void turned(global const int *from, global int *to, int length) {
  const int row = get_global_id(0);
  for (int i = 0; i < length; i++) to[row * length + length - 1 - i] = from[row * length + i];
}

// Compilers do several turns at once.
kernel void fixed_length(global const int *from, global int *to) {
  const int row = get_global_id(0);
  for (int i = 0; i < 128; i++) to[row * 128 + i] = from[row * 128 + i] * 5 + i;
}
