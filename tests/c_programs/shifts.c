/* Shifts, rotations and comparisons of all widths by numbers that the compiler cannot know. */
#include "support.h"

static volatile u32 amount;

static void say(u64 value) {
  print_hex((u32)(value >> 32));
  print_hex((u32)value);
  print(" ");
}

int main(void) {
  u64 wide = 0xfedcba9876543210ull;
  for (u32 i = 0; i < 64; i += 9) {
    amount = i;
    say(wide << amount);
    say(wide >> amount);
    say((u64)((i64)wide >> amount));
    amount = i & 31;
    print_hex((u32)wide << amount);
    print_hex((u32)((i32)0x89abcdef >> amount));
    print_hex((u32)wide << amount | (u32)wide >> (-amount & 31));
    print("\n");
  }
  static const i64 numbers[] = {0, -1, 1, 0x7fffffffffffffffll, -0x7fffffffffffffffll, 1ll << 32};
  for (u32 i = 0; i < LENGTH(numbers); i++)
    for (u32 j = 0; j < LENGTH(numbers); j++) {
      int bits = (numbers[i] < numbers[j]) | (numbers[i] <= numbers[j]) << 1 | ((u64)numbers[i] < (u64)numbers[j]) << 2 |
                 (numbers[i] == numbers[j]) << 3;
      print_number(bits);
      print(j + 1 < LENGTH(numbers) ? " " : "\n");
    }
  return 0;
}
