/* Sines by CORDIC, square roots, and a filter, in fractions of 16 bits. */
#include "support.h"

static const i32 angles[16] = {51472, 30386, 16055, 8150, 4091, 2047, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2};

static void rotate(i32 angle, i32 *sine, i32 *cosine) {
  i32 x = 39797, y = 0;
  for (int i = 0; i < 16; i++) {
    i32 dx = y >> i, dy = x >> i;
    if (angle >= 0) {
      x -= dx;
      y += dy;
      angle -= angles[i];
    } else {
      x += dx;
      y -= dy;
      angle += angles[i];
    }
  }
  *sine = y;
  *cosine = x;
}

static u32 root(u32 value) {
  u32 result = 0;
  for (u32 bit = 1u << 30; bit; bit >>= 2)
    if (value >= result + bit) {
      value -= result + bit;
      result = (result >> 1) + bit;
    } else
      result >>= 1;
  return result;
}

int main(void) {
  for (i32 angle = -90000; angle <= 90000; angle += 30000) {
    i32 pair[2];
    rotate(angle, &pair[0], &pair[1]);
    show_all(pair, 2);
  }
  for (u32 value = 1; value < 4000000000u / 9; value *= 9) show("root", (i32)root(value));
  i32 state = 0;
  for (int i = 0; i < 8; i++) {
    state += (i32)((i64)((i & 1 ? -65536 : 131072) - state) * 13107 >> 16);
    show("filter", state);
  }
  return 0;
}
