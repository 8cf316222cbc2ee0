/* A sort by bytes, with counters. */
#include "support.h"

static u32 values[100], other[100];

static void pass(const u32 *from, u32 *to, u32 count, int shift) {
  u32 places[256] = {0};
  for (u32 i = 0; i < count; i++) places[from[i] >> shift & 255]++;
  u32 sum = 0;
  for (u32 i = 0; i < 256; i++) {
    u32 here = places[i];
    places[i] = sum;
    sum += here;
  }
  for (u32 i = 0; i < count; i++) to[places[from[i] >> shift & 255]++] = from[i];
}

int main(void) {
  for (u32 i = 0; i < LENGTH(values); i++) values[i] = next_random();
  for (int shift = 0; shift < 32; shift += 16) {
    pass(values, other, LENGTH(values), shift);
    pass(other, values, LENGTH(values), shift + 8);
  }
  u32 sum = 0;
  for (u32 i = 0; i < LENGTH(values); i++) {
    if (i && values[i - 1] > values[i]) return 1;
    sum = sum * 31 + values[i];
  }
  print_hex(values[0]);
  print(" ");
  print_hex(values[99]);
  print(" ");
  print_hex(sum);
  print("\n");
  return 0;
}
