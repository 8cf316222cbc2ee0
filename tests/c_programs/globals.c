/* Variables of every kind that compilers put somewhere else: common, weak, aligned, in sections, aliases. */
#include "support.h"

u8 byte = 200;
i16 half = -2;
u32 word = 0xdeadbeef;
i64 wide = -3;
u32 zeros[50];
static u8 own_zeros[7];
static const u16 table[] = {1, 22, 333, 4444};
const char *text = "a \"string\"\twith \\ and \303\274 and \001\x7f\n";
u8 aligned __attribute__((aligned(64))) = 1;
u32 elsewhere __attribute__((section(".data.elsewhere"))) = 77;
int weak_number __attribute__((weak)) = 5;
extern int missing __attribute__((weak));
static int pair[2] = {1, 2};
int *inside = &pair[1];
static const char *const names[] = {"one", "two", "one"};
int shared __attribute__((visibility("hidden"))) = 9;

__attribute__((weak)) int chosen(void) { return 3; }
int original(int x) { return x * 2; }
int alias(int x) __attribute__((alias("original")));

__asm__(".globl by_hand\n\t.type by_hand, @function\nby_hand:\n\tslli a0, a0, 4\n\tret\n\t.size by_hand, .-by_hand\n");
int by_hand(int x);

static int counter(void) {
  static int calls = 40;
  static int first;
  first += 2;
  return calls++ + first;
}

int main(void) {
  show("byte", byte);
  show("half", half);
  show("word", (i32)word);
  show("wide", (i32)(wide >> 32));
  zeros[49] = 4;
  own_zeros[6] = 5;
  show("zeros", (i32)(zeros[0] + zeros[49] + own_zeros[6]));
  show("table", table[1] + table[3]);
  print(text);
  show("aligned", (i32)((u32)&aligned & 63));
  show("elsewhere", (i32)elsewhere);
  show("weak", weak_number + (&missing ? missing : 100));
  show("inside", *inside + inside[-1]);
  show("names", strcmp(names[0], names[2]) * 10 + (strcmp(names[0], names[1]) < 0));
  show("shared", shared);
  show("chosen", chosen() + alias(21) + by_hand(1));
  counter();
  show("counter", counter());
  return byte;
}
