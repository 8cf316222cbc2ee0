/* CRC-32 by a table that the program makes, and bit by bit; Adler's sum. */
#include "support.h"

static u32 table[256];

static u32 by_table(const u8 *data, u32 count) {
  u32 crc = ~0u;
  while (count--) crc = table[(crc ^ *data++) & 255] ^ crc >> 8;
  return ~crc;
}

static u32 by_bits(const u8 *data, u32 count) {
  u32 crc = ~0u;
  while (count--) {
    crc ^= *data++;
    for (int k = 0; k < 8; k++) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

static u32 adler(const u8 *data, u32 count) {
  u32 a = 1, b = 0;
  while (count--) b = (b + (a = (a + *data++) % 65521)) % 65521;
  return b << 16 | a;
}

int main(void) {
  static const char text[] = "123456789";
  u8 data[64];
  for (u32 n = 0; n < 256; n++) {
    u32 c = n;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[n] = c;
  }
  for (u32 i = 0; i < sizeof data; i++) data[i] = (u8)(i * 7 + 3);
  print_hex(by_table((const u8 *)text, 9));
  print(" ");
  print_hex(by_table(data, sizeof data));
  print(" ");
  print_hex(by_bits(data, sizeof data));
  print(" ");
  print_hex(adler(data, sizeof data));
  print("\n");
  return by_table(data, 64) != by_bits(data, 64);
}
