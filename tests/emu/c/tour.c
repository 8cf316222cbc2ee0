/* A freestanding tour of RV32IM: no library, prints through ecall.
 *
 * make tour.elf:
 *   riscv64-unknown-elf-gcc -march=rv32im_zicsr -mabi=ilp32 -nostdlib -ffreestanding -O2 \
 *       -o tour.elf tour.c
 */

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef unsigned char u8;

__asm__(".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "    la gp, __global_pointer$\n"
        ".option pop\n"
        "    call main\n"
        "    li a7, 93\n"
        "    ecall\n");

static void put(const char *text, u32 length)
{
    register u32 a0 __asm__("a0") = 1;
    register const char *a1 __asm__("a1") = text;
    register u32 a2 __asm__("a2") = length;
    register u32 a7 __asm__("a7") = 64;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
}

static void print(const char *text)
{
    u32 length = 0;
    while (text[length])
        length++;
    put(text, length);
}

static void print_number(i32 value)
{
    char text[12];
    u32 at = sizeof text;
    u32 left = value < 0 ? 0u - (u32)value : (u32)value;
    do {
        text[--at] = '0' + left % 10;
        left /= 10;
    } while (left);
    if (value < 0)
        text[--at] = '-';
    put(text + at, sizeof text - at);
}

static void line(const char *name, i32 value)
{
    print(name);
    print(" ");
    print_number(value);
    print("\n");
}

/* Recursion. */
static __attribute__((noinline)) u32 fibonacci(u32 n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) u32 ackermann(u32 m, u32 n)
{
    if (!m)
        return n + 1;
    return n ? ackermann(m - 1, ackermann(m, n - 1)) : ackermann(m - 1, 1);
}

/* Static data, read and written; bytes, halfwords, words. */
static i32 values[] = {31, -4, 159, -2653, 58979, -32384626, 2147483647, -2147483647 - 1, 0, 7};
static u8 sieve[2000];
static short halves[64];
static const char *const names[] = {"zero", "one", "two", "three"};
static u32 state = 12345;

static u32 next(void)
{
    return state = state * 1664525u + 1013904223u;
}

static void sort(i32 *data, i32 count)
{
    for (i32 i = 1; i < count; i++)
        for (i32 j = i; j > 0 && data[j - 1] > data[j]; j--) {
            i32 held = data[j];
            data[j] = data[j - 1];
            data[j - 1] = held;
        }
}

static u32 crc32(const u8 *data, u32 length)
{
    u32 crc = ~0u;
    while (length--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
    }
    return ~crc;
}

static i32 multiply_matrices(void)
{
    static i32 a[12][12], b[12][12];
    i32 trace = 0;
    for (i32 i = 0; i < 12; i++)
        for (i32 j = 0; j < 12; j++) {
            a[i][j] = (i32)(next() >> 20) - 2048;
            b[i][j] = (i32)(next() >> 20) - 2048;
        }
    for (i32 i = 0; i < 12; i++)
        for (i32 k = 0; k < 12; k++)
            trace += a[i][k] * b[k][i];
    return trace;
}

/* A switch becomes a jump table, a table of functions indirect calls. */
static __attribute__((noinline)) i32 decide(i32 what, i32 value)
{
    switch (what) {
    case 0: return value + 1;
    case 1: return value * 3;
    case 2: return value - 7;
    case 3: return value / 5;
    case 4: return value % 11;
    case 5: return value << 3;
    case 6: return value >> 2;
    case 7: return ~value;
    default: return value;
    }
}

static i32 twice(i32 x) { return 2 * x; }
static i32 square(i32 x) { return x * x; }
static i32 (*const functions[])(i32) = {twice, square};

int main(void)
{
    print("macaw tour\n");
    line("fibonacci", (i32)fibonacci(17));
    line("ackermann", (i32)ackermann(2, 9));

    i32 count = sizeof values / sizeof *values;
    sort(values, count);
    print("sorted");
    for (i32 i = 0; i < count; i++) {
        print(" ");
        print_number(values[i]);
    }
    print("\n");

    u32 primes = 0;
    for (u32 i = 2; i < sizeof sieve; i++)
        if (!sieve[i]) {
            primes++;
            for (u32 j = i * i; j < sizeof sieve; j += i)
                sieve[j] = 1;
        }
    line("primes", (i32)primes);
    line("crc", (i32)crc32((const u8 *)"123456789", 9));

    i32 sum = 0;
    for (i32 i = 0; i < 64; i++)
        halves[i] = (short)(next() >> 9);
    for (i32 i = 0; i < 64; i++)
        sum += halves[i];
    line("halves", sum);
    line("trace", multiply_matrices());

    i32 value = 1000;
    for (i32 i = 0; i < 40; i++)
        value = decide(i % 9, value) ^ (i32)(next() >> 28);
    line("decide", value);
    line("calls", functions[0](21) + functions[1](-9));

    /* 64-bit products and high halves; division at its edges. */
    u64 wide = 1;
    for (u32 i = 1; i <= 20; i++)
        wide *= i;
    line("factorial high", (i32)(wide >> 32));
    line("factorial low", (i32)wide);
    volatile i32 least = -2147483647 - 1, minus = -1, nought = 0;
    i32 by_zero, overflow, rest;
    __asm__ volatile("div %0, %1, %2" : "=r"(by_zero) : "r"(least), "r"(nought));
    __asm__ volatile("div %0, %1, %2" : "=r"(overflow) : "r"(least), "r"(minus));
    __asm__ volatile("rem %0, %1, %2" : "=r"(rest) : "r"(least), "r"(nought));
    line("by zero", by_zero);
    line("overflow", overflow);
    line("rest", rest);

    for (u32 i = 0; i < 4; i++)
        print(names[3 - i]), print(i < 3 ? " " : "\n");
    u32 cycles, instructions;
    __asm__ volatile("rdcycle %0" : "=r"(cycles));
    __asm__ volatile("rdinstret %0" : "=r"(instructions));
    print(cycles > instructions && instructions > 10000 ? "counters\n" : "no counters\n");
    return 42;
}
