/* stepped.c - what gdb steps through: calls, a loop, a structure, a variable to watch. */
typedef struct {
  int a, b;
  short c[3];
} point;

static volatile int counter;
int table[4] = {3, 1, 4, 1};

static void exit_with(int code) {
  register int a0 __asm__("a0") = code;
  register int a7 __asm__("a7") = 93;
  __asm__ volatile("ecall" ::"r"(a0), "r"(a7));
  for (;;) {
  }
}

__attribute__((noinline)) int add(int x, int y) {
  counter++;
  return x + y;
}

__attribute__((noinline)) int sum(const int *values, int count) {
  int total = 0;
  for (int i = 0; i < count; i++)
    total = add(total, values[i]);
  return total;
}

int main(void) {
  point p = {1, 2, {7, 8, 9}};
  p.a = sum(table, 4);
  table[2] = p.a + p.b;
  return p.a + table[2];
}

void _start(void) { exit_with(main()); }
