/* More arguments than registers, of all widths, and lists of them. */
#include "support.h"

static i32 ten(i8 a, u8 b, i16 c, u16 d, i32 e, u32 f, i64 g, u64 h, i8 i, i64 j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + (i32)(6 * f) + (i32)(7 * g) + (i32)(h >> 30) + 9 * i + (i32)(j >> 32);
}

static i64 sum(int count, ...) {
  __builtin_va_list list;
  i64 total = 0;
  __builtin_va_start(list, count);
  while (count--) {
    total += __builtin_va_arg(list, int);
    if (count % 3 == 0) total += __builtin_va_arg(list, i64);
  }
  __builtin_va_end(list);
  return total;
}

static i32 (*volatile through)(i8, u8, i16, u16, i32, u32, i64, u64, i8, i64) = ten;

int main(void) {
  show("ten", through(-1, 250, -300, 60000, -70000, 4000000000u, -5, 1ull << 40, -128, -(1ll << 34)));
  show("sum", (i32)sum(1, 5, 10ll));
  show("sum", (i32)sum(7, 1, 2ll, 3, 4, 5, 6ll, 7, 8, 9, 10ll));
  i64 large = sum(1, -1, 1ll << 40);
  print_hex((u32)((u64)large >> 32));
  print_hex((u32)large);
  print("\n");
  return 0;
}
