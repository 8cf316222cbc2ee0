/* Base 64 there and back. */
#include "support.h"

static const char alphabet[64] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static u32 encode(const u8 *from, u32 count, char *to) {
  char *at = to;
  for (; count >= 3; count -= 3, from += 3) {
    u32 bits = (u32)from[0] << 16 | (u32)from[1] << 8 | from[2];
    for (int shift = 18; shift >= 0; shift -= 6) *at++ = alphabet[bits >> shift & 63];
  }
  if (count) {
    u32 bits = (u32)from[0] << 16 | (count > 1 ? (u32)from[1] << 8 : 0);
    *at++ = alphabet[bits >> 18 & 63];
    *at++ = alphabet[bits >> 12 & 63];
    *at++ = count > 1 ? alphabet[bits >> 6 & 63] : '=';
    *at++ = '=';
  }
  *at = 0;
  return (u32)(at - to);
}

static u32 decode(const char *from, u8 *to) {
  u8 *at = to;
  u32 bits = 0, have = 0;
  for (; *from && *from != '='; from++) {
    u32 digit = 0;
    while (alphabet[digit] != *from) digit++;
    bits = bits << 6 | digit;
    if ((have += 6) >= 8) *at++ = (u8)(bits >> (have -= 8));
  }
  return (u32)(at - to);
}

int main(void) {
  static const char *const texts[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar", "\x01\xff\x80~ \n"};
  char coded[24];
  u8 back[24];
  for (u32 i = 0; i < LENGTH(texts); i++) {
    u32 length = strlen(texts[i]);
    show("length", (i32)encode((const u8 *)texts[i], length, coded));
    print(coded);
    if (decode(coded, back) != length || memcmp(back, texts[i], length)) return 1;
    print("\n");
  }
  return 0;
}
