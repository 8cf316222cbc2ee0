/* The plainest sort, and one that stops early. */
#include "support.h"

static i32 values[] = {34, -7, 23, 32, 5, 62, 32, -100, 7, 0, 1, 99};

static int bubble(i32 *array, int count) {
  int swaps = 0, again = 1;
  while (again) {
    again = 0;
    for (int i = 1; i < count; i++)
      if (array[i - 1] > array[i]) {
        i32 kept = array[i];
        array[i] = array[i - 1];
        array[i - 1] = kept;
        again = 1;
        swaps++;
      }
    count--;
  }
  return swaps;
}

int main(void) {
  show("swaps", bubble(values, LENGTH(values)));
  show_all(values, LENGTH(values));
  show("swaps", bubble(values, LENGTH(values)));
  return 0;
}
