/* A heap in an array. */
#include "support.h"

static void sift(i32 *heap, u32 root, u32 end) {
  for (u32 child; (child = 2 * root + 1) < end; root = child) {
    if (child + 1 < end && heap[child] < heap[child + 1]) child++;
    if (heap[root] >= heap[child]) return;
    i32 kept = heap[root];
    heap[root] = heap[child];
    heap[child] = kept;
  }
}

int main(void) {
  i32 values[60];
  u32 count = LENGTH(values);
  for (u32 i = 0; i < count; i++) values[i] = (i32)next_random() >> 16;
  for (u32 i = count / 2; i-- > 0;) sift(values, i, count);
  show("largest", values[0]);
  for (u32 end = count; end-- > 1;) {
    i32 kept = values[0];
    values[0] = values[end];
    values[end] = kept;
    sift(values, 0, end);
  }
  show_all(values, count);
  return 0;
}
