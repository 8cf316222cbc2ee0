/* Pointers to functions and to data in initialised tables; a computed goto. */
#include "support.h"

static i32 add(i32 a, i32 b) { return a + b; }
static i32 subtract(i32 a, i32 b) { return a - b; }
static i32 multiply(i32 a, i32 b) { return a * b; }
static i32 shift(i32 a, i32 b) { return a >> (b & 31); }

static i32 memory[4] = {10, 20, 30, 40};
static struct operation {
  const char *name;
  i32 (*run)(i32, i32);
  i32 *left, *right;
} operations[] = {
    {"add", add, &memory[0], &memory[3]},
    {"subtract", subtract, &memory[1], memory},
    {"multiply", multiply, memory + 2, &memory[2]},
    {"shift", shift, &memory[2], &memory[0]},
};

static i32 threaded(const u8 *code, i32 value) {
  static void *const labels[] = {&&stop, &&increment, &&twice, &&negate};
  goto *labels[*code++];
increment:
  value++;
  goto *labels[*code++];
twice:
  value *= 2;
  goto *labels[*code++];
negate:
  value = -value;
  goto *labels[*code++];
stop:
  return value;
}

int main(void) {
  for (u32 i = 0; i < LENGTH(operations); i++) {
    struct operation *o = &operations[i];
    *o->left = o->run(*o->left, *o->right);
    show(o->name, *o->left);
  }
  static const u8 code[] = {1, 2, 2, 3, 1, 2, 0};
  show("threaded", threaded(code, 5));
  return 0;
}
