/* Floating-point constants as data, taken apart in integers. */
#include "support.h"

static const float singles[] = {1.0f, -0.5f, 3.14159274f, 1e-40f, 3.4e38f, 0.1f};
static const double doubles[] = {1.0, -2.5, 0.1, 1e300};

int main(void) {
  for (u32 i = 0; i < LENGTH(singles); i++) {
    u32 bits;
    memcpy(&bits, &singles[i], sizeof bits);
    i32 exponent = (i32)(bits >> 23 & 255) - 127;
    print_hex(bits);
    show(" exponent", exponent);
  }
  for (u32 i = 0; i < LENGTH(doubles); i++) {
    u32 bits[2];
    memcpy(bits, &doubles[i], sizeof bits);
    print_hex(bits[1]);
    print_hex(bits[0]);
    print("\n");
  }
  return 0;
}
