/* What the programs share: output through cp's ecalls (Linux numbers), and what C wants of a library. */
#ifndef SUPPORT_H
#define SUPPORT_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

int main(void);                              /* its value is the exit status */
void exit_with(int status) __attribute__((noreturn));
void print(const char *text);
void print_number(i32 value);                /* decimal */
void print_hex(u32 value);                   /* eight digits */
void show(const char *name, i32 value);      /* "name value\n" */
void show_all(const i32 *values, u32 count); /* a line, with blanks between */
u32 next_random(void);                       /* always the same numbers */

void *memcpy(void *to, const void *from, __SIZE_TYPE__ count);
void *memmove(void *to, const void *from, __SIZE_TYPE__ count);
void *memset(void *to, int value, __SIZE_TYPE__ count);
int memcmp(const void *left, const void *right, __SIZE_TYPE__ count);
__SIZE_TYPE__ strlen(const char *text);
int strcmp(const char *left, const char *right);
#endif
