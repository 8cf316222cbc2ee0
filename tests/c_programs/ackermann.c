/* Deep recursion, also of two functions that call each other. */
#include "support.h"

static u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static int odd(u32 n);
static int even(u32 n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(u32 n) { return n == 0 ? 0 : even(n - 1); }

int main(void) {
  for (u32 m = 0; m < 3; m++)
    for (u32 n = 0; n < 5; n++) show("ackermann", (i32)ackermann(m, n));
  show("ackermann", (i32)ackermann(3, 3));
  show("even", even(301));
  show("odd", odd(301));
  return 0;
}
