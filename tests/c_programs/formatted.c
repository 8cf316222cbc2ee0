/* A printf of its own: variable arguments, a switch over characters. */
#include "support.h"

static char buffer[200];
static u32 used;

static void put(char c) {
  if (used < sizeof buffer - 1) buffer[used++] = c;
}

static void put_number(u32 value, u32 base, int width, char pad) {
  char digits[33];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[value % base];
  while (value /= base);
  while (width-- > count) put(pad);
  while (count) put(digits[--count]);
}

static int format(const char *form, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, form);
  used = 0;
  for (; *form; form++) {
    if (*form != '%') {
      put(*form);
      continue;
    }
    char pad = ' ';
    int width = 0;
    if (*++form == '0') pad = *form++;
    while (*form >= '0' && *form <= '9') width = width * 10 + *form++ - '0';
    switch (*form) {
      case 'd': {
        i32 value = __builtin_va_arg(arguments, i32);
        if (value < 0) put('-');
        put_number(value < 0 ? -(u32)value : (u32)value, 10, width, pad);
        break;
      }
      case 'u': put_number(__builtin_va_arg(arguments, u32), 10, width, pad); break;
      case 'x': put_number(__builtin_va_arg(arguments, u32), 16, width, pad); break;
      case 'o': put_number(__builtin_va_arg(arguments, u32), 8, width, pad); break;
      case 'b': put_number(__builtin_va_arg(arguments, u32), 2, width, pad); break;
      case 'c': put((char)__builtin_va_arg(arguments, int)); break;
      case 's':
        for (const char *text = __builtin_va_arg(arguments, const char *); *text; text++) put(*text);
        break;
      case 'q': {
        u64 value = __builtin_va_arg(arguments, u64);
        put_number((u32)(value >> 32), 16, 8, '0');
        put_number((u32)value, 16, 8, '0');
        break;
      }
      default: put(*form);
    }
  }
  __builtin_va_end(arguments);
  buffer[used] = 0;
  print(buffer);
  return (int)used;
}

int main(void) {
  int sum = format("%d %u %x %o %b %c|%s|%5d|%05d|%%\n", -12, 4000000000u, 0xbeef, 8, 5, 'z', "text", 42, 42);
  sum += format("%q %d %q %d %d %q\n", 0x123456789abcdef0ull, 1, 2ull, 3, 4, ~0ull);
  sum += format("%s%s%s", "", "\t\"quoted\"\\ \x7f\n", "");
  show("characters", sum);
  return 0;
}
