/* Factorials and powers with many digits. */
#include "support.h"

static u16 digits[40]; /* base 10000, the lowest first */
static int used;

static void set(u16 value) {
  memset(digits, 0, sizeof digits);
  digits[0] = value;
  used = 1;
}

static void times(u32 factor) {
  u32 carry = 0;
  for (int i = 0; i < used || carry; i++) {
    carry += digits[i] * factor;
    digits[i] = (u16)(carry % 10000);
    carry /= 10000;
    if (i >= used) used = i + 1;
  }
}

static void say(void) {
  print_number(digits[used - 1]);
  for (int i = used - 2; i >= 0; i--) {
    char text[5] = {(char)('0' + digits[i] / 1000), (char)('0' + digits[i] / 100 % 10),
                    (char)('0' + digits[i] / 10 % 10), (char)('0' + digits[i] % 10), 0};
    print(text);
  }
  print("\n");
}

int main(void) {
  set(1);
  for (u32 n = 2; n <= 40; n++) {
    times(n);
    if (n % 10 == 0) say();
  }
  set(1);
  for (int i = 0; i < 200; i++) times(2);
  say();
  return 0;
}
