/* Binary32 in integers: sum and product, rounded half to even. No instruction for floats, none called. */
#include "support.h"

static u32 packed(u32 sign, i32 exponent, u64 mantissa) {
  if (!mantissa) return sign << 31;
  int sticky = 0;
  while (mantissa >> 27) {
    sticky |= mantissa & 1;
    mantissa >>= 1;
    exponent++;
  }
  while (!(mantissa >> 26)) {
    mantissa <<= 1;
    exponent--;
  }
  if (exponent <= 0) {
    while (exponent <= 0) {
      sticky |= mantissa & 1;
      mantissa >>= 1;
      exponent++;
    }
    exponent = 0;
  }
  u32 result = (u32)(mantissa >> 3), low = (u32)(mantissa & 7);
  if (low > 4 || (low == 4 && (sticky || (result & 1)))) result++;
  if (exponent >= 255 || (exponent == 254 && result >> 24)) return sign << 31 | 0x7f800000;
  if (exponent == 0) return sign << 31 | result;
  return (sign << 31) + ((u32)(exponent - 1) << 23) + result;
}

static i32 exponent_of(u32 a) { return (a >> 23 & 255) ? (i32)(a >> 23 & 255) : 1; }
static u32 mantissa_of(u32 a) { return (a & 0x7fffff) | ((a >> 23 & 255) ? 1u << 23 : 0); }

static u32 product(u32 a, u32 b) {
  return packed((a ^ b) >> 31, exponent_of(a) + exponent_of(b) - 127 - 20, (u64)mantissa_of(a) * mantissa_of(b));
}

static u32 sum(u32 a, u32 b) {
  if (exponent_of(a) < exponent_of(b) || (exponent_of(a) == exponent_of(b) && mantissa_of(a) < mantissa_of(b))) {
    u32 kept = a;
    a = b;
    b = kept;
  }
  int apart = exponent_of(a) - exponent_of(b);
  u64 x = (u64)mantissa_of(a) << 30, y = (u64)mantissa_of(b) << 30, lost = 0;
  if (apart > 40) apart = 40;
  while (apart--) {
    lost |= y & 1;
    y >>= 1;
  }
  u64 result = (a ^ b) >> 31 ? x - y - lost : x + y;
  return packed(result ? a >> 31 : 0, exponent_of(a) - 27, result | lost);
}

int main(void) {
  static const u32 values[] = {0x3f800000, 0xbf000000, 0x40490fdb, 0x3eaaaaab, 0x7f7fffff, 0x00000001, 0x80800000, 0x4b800001};
  for (u32 i = 0; i < LENGTH(values); i++)
    for (u32 j = 0; j < LENGTH(values); j++) {
      print_hex(sum(values[i], values[j]));
      print(" ");
      print_hex(product(values[i], values[j]));
      print(j % 4 == 3 ? "\n" : " ");
    }
  return 0;
}
