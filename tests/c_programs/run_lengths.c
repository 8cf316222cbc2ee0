/* Runs of bytes packed and unpacked; a move to the front. */
#include "support.h"

static u8 plain[120], coded[260], back[120];

static u32 pack(const u8 *from, u32 count, u8 *to) {
  u32 at = 0;
  for (u32 i = 0; i < count;) {
    u32 run = 1;
    while (i + run < count && from[i + run] == from[i] && run < 255) run++;
    to[at++] = (u8)run;
    to[at++] = from[i];
    i += run;
  }
  return at;
}

static u32 unpack(const u8 *from, u32 count, u8 *to) {
  u32 at = 0;
  for (u32 i = 0; i < count; i += 2) {
    memset(to + at, from[i + 1], from[i]);
    at += from[i];
  }
  return at;
}

static u32 to_front(const u8 *from, u32 count) {
  u8 order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  u32 sum = 0;
  while (count--) {
    u32 place = 0;
    while (order[place] != *from) place++;
    memmove(order + 1, order, place);
    order[0] = *from++;
    sum = sum * 5 + place;
  }
  return sum;
}

int main(void) {
  for (u32 i = 0; i < sizeof plain; i++) plain[i] = (u8)((i * i / 90) & 7);
  u32 length = pack(plain, sizeof plain, coded);
  show("packed", (i32)length);
  show("unpacked", (i32)unpack(coded, length, back));
  show("different", memcmp(plain, back, sizeof plain));
  print_hex(to_front(plain, sizeof plain));
  print("\n");
  return 0;
}
