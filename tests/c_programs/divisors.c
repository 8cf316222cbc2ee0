/* Greatest common divisors, Euclid's extended algorithm, powers of a modulus. */
#include "support.h"

static u32 gcd(u32 a, u32 b) { return b ? gcd(b, a % b) : a; }

static i32 extended(i32 a, i32 b, i32 *x, i32 *y) {
  if (!b) {
    *x = 1;
    *y = 0;
    return a;
  }
  i32 x1, y1, result = extended(b, a % b, &x1, &y1);
  *x = y1;
  *y = x1 - a / b * y1;
  return result;
}

static u32 power(u32 base, u32 exponent, u32 modulus) {
  u64 result = 1, square = base % modulus;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = result * square % modulus;
    square = square * square % modulus;
  }
  return (u32)result;
}

int main(void) {
  static const u32 pairs[][2] = {{12, 18}, {17, 5}, {1071, 462}, {4000000000u, 1000000007u}, {0, 9}, {1 << 20, 96}};
  for (u32 i = 0; i < LENGTH(pairs); i++) show("gcd", (i32)gcd(pairs[i][0], pairs[i][1]));
  i32 x, y, divisor = extended(240, 46, &x, &y);
  show("divisor", divisor);
  show("x", x);
  show("y", y);
  show("power", (i32)power(3, 1000, 1000003));
  show("power", (i32)power(7, 65536, 998244353));
  return 0;
}
