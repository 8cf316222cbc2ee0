/* The entry, output, and the functions that gcc and clang call by themselves. */
#include "support.h"

static i32 call(i32 number, i32 first, i32 second, i32 third) {
  register i32 a0 __asm__("a0") = first;
  register i32 a1 __asm__("a1") = second;
  register i32 a2 __asm__("a2") = third;
  register i32 a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}

void exit_with(int status) {
  for (;;) call(93, status, 0, 0);
}

void _start(void) { exit_with(main()); }

void print(const char *text) { call(64, 1, (i32)text, (i32)strlen(text)); }

void print_number(i32 value) {
  char digits[12];
  char *at = digits + sizeof digits;
  u32 rest = value < 0 ? -(u32)value : (u32)value;
  *--at = 0;
  do *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) *--at = '-';
  print(at);
}

void print_hex(u32 value) {
  char digits[9];
  for (int place = 0; place < 8; place++) digits[place] = "0123456789abcdef"[value >> (28 - 4 * place) & 15];
  digits[8] = 0;
  print(digits);
}

void show(const char *name, i32 value) {
  print(name);
  print(" ");
  print_number(value);
  print("\n");
}

void show_all(const i32 *values, u32 count) {
  for (u32 place = 0; place < count; place++) {
    if (place) print(" ");
    print_number(values[place]);
  }
  print("\n");
}

u32 next_random(void) {
  static u32 state = 2463534242u;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

void *memcpy(void *to, const void *from, __SIZE_TYPE__ count) {
  u8 *target = to;
  const u8 *source = from;
  while (count--) *target++ = *source++;
  return to;
}

void *memmove(void *to, const void *from, __SIZE_TYPE__ count) {
  u8 *target = to;
  const u8 *source = from;
  if (target <= source) return memcpy(to, from, count);
  while (count--) target[count] = source[count];
  return to;
}

void *memset(void *to, int value, __SIZE_TYPE__ count) {
  u8 *target = to;
  while (count--) *target++ = (u8)value;
  return to;
}

int memcmp(const void *left, const void *right, __SIZE_TYPE__ count) {
  const u8 *a = left, *b = right;
  for (; count--; a++, b++)
    if (*a != *b) return *a - *b;
  return 0;
}

__SIZE_TYPE__ strlen(const char *text) {
  const char *end = text;
  while (*end) end++;
  return (__SIZE_TYPE__)(end - text);
}

int strcmp(const char *left, const char *right) {
  while (*left && *left == *right) left++, right++;
  return (u8)*left - (u8)*right;
}

/* 64 bits: shifts and divisions, in words. */
typedef union {
  u64 whole;
  struct {
    u32 low, high;
  } part;
} pair;

u64 __ashldi3(u64 value, int by) {
  pair in = {value}, out;
  if (by == 0) return value;
  out.part.low = by >= 32 ? 0 : in.part.low << by;
  out.part.high = by >= 32 ? in.part.low << (by - 32) : in.part.high << by | in.part.low >> (32 - by);
  return out.whole;
}

u64 __lshrdi3(u64 value, int by) {
  pair in = {value}, out;
  if (by == 0) return value;
  out.part.high = by >= 32 ? 0 : in.part.high >> by;
  out.part.low = by >= 32 ? in.part.high >> (by - 32) : in.part.low >> by | in.part.high << (32 - by);
  return out.whole;
}

i64 __ashrdi3(i64 value, int by) {
  pair in = {(u64)value}, out;
  if (by == 0) return value;
  out.part.high = (u32)((i32)in.part.high >> (by >= 32 ? 31 : by));
  out.part.low = by >= 32 ? (u32)((i32)in.part.high >> (by - 32)) : in.part.low >> by | in.part.high << (32 - by);
  return (i64)out.whole;
}

static u64 divide(u64 dividend, u64 divisor, u64 *remainder) {
  u64 quotient = 0, rest = 0;
  for (int place = 63; place >= 0; place--) {
    rest = rest << 1 | (dividend >> place & 1);
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= (u64)1 << place;
    }
  }
  *remainder = rest;
  return quotient;
}

u64 __udivdi3(u64 dividend, u64 divisor) {
  u64 rest;
  return divide(dividend, divisor, &rest);
}

u64 __umoddi3(u64 dividend, u64 divisor) {
  u64 rest;
  divide(dividend, divisor, &rest);
  return rest;
}

static u64 magnitude(i64 value) { return value < 0 ? -(u64)value : (u64)value; }

i64 __divdi3(i64 dividend, i64 divisor) {
  u64 rest, quotient = divide(magnitude(dividend), magnitude(divisor), &rest);
  return (i64)((dividend < 0) != (divisor < 0) ? -quotient : quotient);
}

i64 __moddi3(i64 dividend, i64 divisor) {
  u64 rest;
  divide(magnitude(dividend), magnitude(divisor), &rest);
  return (i64)(dividend < 0 ? -rest : rest);
}

i64 __muldi3(i64 left, i64 right) {
  u64 sum = 0;
  for (u64 a = (u64)left, b = (u64)right; b; a <<= 1, b >>= 1)
    if (b & 1) sum += a;
  return (i64)sum;
}

int __clzsi2(u32 value) {
  int count = 0;
  while (count < 32 && !(value >> (31 - count) & 1)) count++;
  return count;
}

int __ctzsi2(u32 value) {
  int count = 0;
  while (count < 32 && !(value >> count & 1)) count++;
  return count;
}

int __popcountsi2(u32 value) {
  int count = 0;
  for (; value; value &= value - 1) count++;
  return count;
}

u32 __bswapsi2(u32 value) { return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24; }
