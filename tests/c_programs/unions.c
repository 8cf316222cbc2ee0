/* Unions, bit fields, enumerations, packed structures. */
#include "support.h"

union word {
  u32 whole;
  u16 halves[2];
  u8 bytes[4];
  struct { u32 low : 5, middle : 11; i32 high : 16; } fields;
};

struct __attribute__((packed)) packed {
  u8 kind;
  u32 value;
  u16 tail;
};

enum colour { RED = 3, GREEN = -2, BLUE = 1 << 20 };

int main(void) {
  union word w = {0x89abcdef};
  show("low", w.fields.low);
  show("middle", w.fields.middle);
  show("high", w.fields.high);
  show("half", w.halves[1]);
  w.bytes[2] ^= 0xff;
  w.fields.middle += 77;
  w.fields.high = -5;
  print_hex(w.whole);
  print("\n");
  struct packed array[3];
  for (u32 i = 0; i < 3; i++) {
    array[i].kind = (u8)(i + 1);
    array[i].value = 0x01020304u * (i + 1);
    array[i].tail = (u16)(i * 1000);
  }
  const u8 *raw = (const u8 *)array;
  for (u32 i = 0; i < sizeof array; i++) {
    print_number(raw[i]);
    print(i + 1 < sizeof array ? " " : "\n");
  }
  enum colour all[] = {RED, GREEN, BLUE};
  show("colours", all[0] + all[1] + all[2]);
  return 0;
}
