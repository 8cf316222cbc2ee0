/* Structures by value: small ones in registers, large ones in memory, nested, returned, compared. */
#include "support.h"

struct point { i16 x, y; };
struct box { struct point low, high; };
struct mixed { i8 a; i32 b; i16 c; u8 d[5]; i64 e; };

static struct point middle(struct box box) {
  struct point result = {(i16)((box.low.x + box.high.x) / 2), (i16)((box.low.y + box.high.y) / 2)};
  return result;
}

static struct box joined(struct box a, struct box b) {
  struct box r = a;
  if (b.low.x < r.low.x) r.low.x = b.low.x;
  if (b.low.y < r.low.y) r.low.y = b.low.y;
  if (b.high.x > r.high.x) r.high.x = b.high.x;
  if (b.high.y > r.high.y) r.high.y = b.high.y;
  return r;
}

static struct mixed changed(struct mixed m, int by) {
  m.a = (i8)(m.a + by);
  m.b *= by;
  m.c = (i16)(m.c - by);
  m.d[by & 3] = (u8)by;
  m.e += (i64)by << 33;
  return m;
}

int main(void) {
  struct box boxes[] = {{{1, 2}, {3, 4}}, {{-5, 6}, {7, 80}}, {{-30000, -2}, {-1, 30000}}};
  struct box all = boxes[0];
  for (u32 i = 1; i < LENGTH(boxes); i++) all = joined(all, boxes[i]);
  struct point at = middle(all);
  show("x", at.x);
  show("y", at.y);
  show("size of box", sizeof(struct box));
  show("size of mixed", sizeof(struct mixed));
  struct mixed m = {1, 2, 3, {4, 5, 6, 7, 8}, -9};
  for (int i = 1; i < 12; i++) m = changed(m, i * 3);
  show("a", m.a);
  show("b", m.b);
  show("c", m.c);
  for (int i = 0; i < 5; i++) show("d", m.d[i]);
  print_hex((u32)((u64)m.e >> 32));
  print_hex((u32)m.e);
  print("\n");
  show("same", memcmp(&boxes[0], &boxes[1], sizeof boxes[0]) == 0);
  return 0;
}
