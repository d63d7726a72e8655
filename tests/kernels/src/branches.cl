// Both branches store to the same places.
kernel void binarised(global const uchar *from, global uchar *to, int limit) {
  const int i = get_global_id(0);
  if (from[i] > limit)
    to[i] = 255;
  else
    to[i] = 0;
}

kernel void grades(global const float *marks, global uchar *to) {
  const int i = get_global_id(0);
  const float mark = marks[i];
  if (mark < 0.3f)
    to[i] = 0;
  else if (mark < 0.5f)
    to[i] = 1;
  else if (mark < 0.7f)
    to[i] = 2;
  else if (mark < 0.9f)
    to[i] = 3;
  else
    to[i] = (uchar)(mark * 100);
}

// What one branch stores is loaded in it.
kernel void covered(global const float *from, global const uchar *cover, global float *to) {
  const int i = get_global_id(0);
  if (cover[i] & 1)
    to[i] = from[i];
  else
    to[i] = -1;
}

// Each item of two buffers, in two dimensions.
kernel void divided(global const short *from, global short *low, global short *high, int width) {
  const int i = get_global_id(1) * width + get_global_id(0);
  const short value = from[i];
  if (value < 100) {
    low[i] = value;
    high[i] = 0;
  } else {
    low[i] = 0;
    high[i] = value - 100;
  }
}
