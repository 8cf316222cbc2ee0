/* Division by shifts and subtractions, held against the instructions; the corners too. */
#include "support.h"

static u32 quotient_of(u32 a, u32 b, u32 *rest) {
  u32 quotient = 0, left = 0;
  for (int place = 31; place >= 0; place--) {
    left = left << 1 | (a >> place & 1);
    quotient <<= 1;
    if (left >= b) {
      left -= b;
      quotient |= 1;
    }
  }
  *rest = left;
  return quotient;
}

/* The operands go through memory, so that the compiler divides at run time. */
static volatile u32 a, b;
static volatile i32 c, d;

int main(void) {
  u32 sum = 0;
  for (int i = 0; i < 20; i++) {
    u32 rest;
    a = next_random();
    b = next_random() >> (i & 31) | 1;
    u32 quotient = quotient_of(a, b, &rest);
    if (quotient != a / b || rest != a % b) return 1;
    sum = sum * 17 + quotient;
  }
  print_hex(sum);
  print("\n");
  static const i32 values[] = {7, -7, 100, -100, 2147483647, -2147483647, 1};
  for (u32 i = 0; i < LENGTH(values); i++)
    for (u32 j = 0; j < 4; j++) {
      c = values[i];
      d = values[j];
      print_number(c / d);
      print(":");
      print_number(c % d);
      print(j == 3 ? "\n" : " ");
    }
  return 0;
}
