// Each item works on a row of its own, and what it does with an element depends on the element.
kernel void limited(global const uchar *from, global uchar *to, int length, int limit) {
  const int row = get_global_id(0) * length;
  for (int i = 0; i < length; i++) {
    if (from[row + i] > limit)
      to[row + i] = 255;
    else
      to[row + i] = 0;
  }
}

// What is stored is counted, too.
kernel void kept(global const int *from, global int *to, global int *counts, int length, int limit) {
  const int item = get_global_id(0);
  int count = 0;
  for (int i = 0; i < length; i++) {
    const int value = from[item * length + i];
    if (value > limit) {
      to[item * length + i] = value;
      count++;
    }
  }
  counts[item] = count;
}

// Bytes are stored in one branch only.
kernel void marked(global const float *from, global uchar *to, int length) {
  const int row = get_global_id(0) * length;
  for (int i = 0; i < length; i++)
    if (from[row + i] > 0.5f) to[row + i] = 1;
}

// One condition within another; both branches load what they store.
kernel void adjusted(global const short *from, global short *to, int length) {
  const int row = get_global_id(0) * length;
  for (int i = 0; i < length; i++) {
    const short value = from[row + i];
    if (value > 0) {
      if (value > 1000)
        to[row + i] += 2;
      else
        to[row + i] = value / 3;
    } else {
      to[row + i] -= value;
    }
  }
}
