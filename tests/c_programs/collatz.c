/* The longest way to one. */
#include "support.h"

static u8 known[300];

static u32 steps(u32 n) {
  if (n == 1) return 0;
  if (n < LENGTH(known) && known[n]) return known[n];
  u32 result = 1 + steps(n & 1 ? 3 * n + 1 : n / 2);
  if (n < LENGTH(known)) known[n] = (u8)result;
  return result;
}

int main(void) {
  u32 most = 0;
  for (u32 n = 1; n < LENGTH(known); n++)
    if (steps(n) > most) {
      most = steps(n);
      i32 pair[2] = {(i32)n, (i32)most};
      show_all(pair, 2);
    }
  return 0;
}
