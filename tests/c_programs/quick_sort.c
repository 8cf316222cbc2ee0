/* Recursion, and a comparison that is passed as a pointer. */
#include "support.h"

typedef int (*order)(i32, i32);

static int rising(i32 a, i32 b) { return a < b; }
static int falling(i32 a, i32 b) { return a > b; }
static int by_last_digit(i32 a, i32 b) { return a % 10 < b % 10 || (a % 10 == b % 10 && a < b); }

static void sort(i32 *low, i32 *high, order before) {
  if (low >= high) return;
  i32 pivot = low[(high - low) / 2], *left = low, *right = high;
  while (left <= right) {
    while (before(*left, pivot)) left++;
    while (before(pivot, *right)) right--;
    if (left <= right) {
      i32 kept = *left;
      *left++ = *right;
      *right-- = kept;
    }
  }
  sort(low, right, before);
  sort(left, high, before);
}

int main(void) {
  static const order orders[] = {rising, falling, by_last_digit};
  i32 values[25];
  for (u32 i = 0; i < LENGTH(values); i++) values[i] = (i32)(next_random() % 1000) - 300;
  for (u32 i = 0; i < LENGTH(orders); i++) {
    sort(values, values + LENGTH(values) - 1, orders[i]);
    show_all(values, LENGTH(values));
  }
  return 0;
}
