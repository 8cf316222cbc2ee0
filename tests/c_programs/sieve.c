/* Primes by a sieve of bits, and factors. */
#include "support.h"

#define LIMIT 1000
static u32 composite[LIMIT / 32 + 1];

int main(void) {
  int count = 0;
  for (u32 n = 2; n < LIMIT; n++) {
    if (composite[n / 32] >> n % 32 & 1) continue;
    count++;
    if (n > 970 || n < 20) show("prime", (i32)n);
    for (u32 k = n * n; k < LIMIT; k += n) composite[k / 32] |= 1u << k % 32;
  }
  show("count", count);
  static const u32 numbers[] = {360, 1001, 65521, 0xfffffffe, 2};
  for (u32 i = 0; i < LENGTH(numbers); i++) {
    u32 rest = numbers[i];
    for (u32 p = 2; p * p <= rest && p < 300; p++)
      while (rest % p == 0) {
        print_number((i32)p);
        print(" ");
        rest /= p;
      }
    show("rest", (i32)rest);
  }
  return 0;
}
