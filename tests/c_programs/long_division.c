/* 64 bits: division, remainder and products, signed and unsigned. */
#include "support.h"

static void show_long(u64 value) {
  char digits[21];
  int at = 20;
  digits[at] = 0;
  do digits[--at] = (char)('0' + value % 10);
  while (value /= 10);
  print(digits + at);
  print(" ");
}

static void show_signed(i64 value) {
  if (value < 0) print("-");
  show_long(value < 0 ? -(u64)value : (u64)value);
}

int main(void) {
  static const u64 values[] = {1000000007ull, 0xffffffffffffffffull, 12345678901234567ull, 3};
  for (u32 i = 0; i < LENGTH(values); i++) {
    for (u32 j = 0; j < LENGTH(values); j += 2) {
      show_long(values[i] / values[j]);
      show_long(values[i] % values[j]);
      show_signed((i64)(values[i] * 3) / -(i64)(values[j] >> 2 | 1));
      show_signed((i64)values[i] % (i64)(values[j] | 8));
    }
    print("\n");
  }
  return 0;
}
