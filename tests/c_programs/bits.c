/* Bits: counted, reversed, interleaved, Gray codes; the compiler's own words for them. */
#include "support.h"

static u32 reversed(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

static u32 interleaved(u16 x, u16 y) {
  u32 result = 0;
  for (int i = 0; i < 16; i++) result |= (u32)(x >> i & 1) << 2 * i | (u32)(y >> i & 1) << (2 * i + 1);
  return result;
}

int main(void) {
  for (int i = 0; i < 6; i++) {
    u32 x = next_random() >> i;
    i32 counts[4] = {__builtin_popcount(x), __builtin_clz(x | 1), __builtin_ctz(x | 0x80000000u), (i32)(x ^ x >> 1) >> 20};
    print_hex(reversed(x));
    print(" ");
    print_hex(interleaved((u16)x, (u16)(x >> 16)));
    print(" ");
    show_all(counts, 4);
  }
  return 0;
}
