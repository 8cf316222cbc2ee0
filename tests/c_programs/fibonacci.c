/* Three ways to the same numbers. */
#include "support.h"

static u32 slow(u32 n) { return n < 2 ? n : slow(n - 1) + slow(n - 2); }

static u64 quick(u32 n) {
  u64 a = 0, b = 1;
  while (n--) {
    u64 next = a + b;
    a = b;
    b = next;
  }
  return a;
}

static u32 by_matrix(u32 n) {
  u32 m[4] = {1, 1, 1, 0}, r[4] = {1, 0, 0, 1};
  for (; n; n >>= 1) {
    u32 k[4];
    if (n & 1) {
      for (int i = 0; i < 4; i++) k[i] = r[i & 2] * m[i & 1] + r[(i & 2) + 1] * m[(i & 1) + 2];
      memcpy(r, k, sizeof k);
    }
    for (int i = 0; i < 4; i++) k[i] = m[i & 2] * m[i & 1] + m[(i & 2) + 1] * m[(i & 1) + 2];
    memcpy(m, k, sizeof k);
  }
  return r[1];
}

int main(void) {
  for (u32 n = 0; n <= 14; n += 2) show("slow", (i32)slow(n));
  for (u32 n = 40; n <= 90; n += 10) {
    u64 value = quick(n);
    print_hex((u32)(value >> 32));
    print_hex((u32)value);
    print(by_matrix(n) == (u32)value ? " same\n" : " different\n");
  }
  return 0;
}
