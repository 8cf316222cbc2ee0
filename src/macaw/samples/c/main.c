/* main.c - for cp, the command processor: starts the layer of layer.s, and says which output is
   the largest. macaw.h is made by `macaw header layer.s`: it has the instructions of cp that C does
   not know (macaw_dma_copy, ...), and where the tensors and parts of layer.s lie. */
#include "macaw.h"

/* The program of row 0 (packets, sequence, weights): where it belongs, where the loader put it. */
static const struct macaw_transfer part = {MACAW_PE0_PART, MACAW_PE0_PART_LOAD,
                                            MACAW_PE0_PART_BYTES, 1, 0, 0};

static void copy(uint32_t to, uint32_t from, uint32_t count) {
  struct macaw_transfer transfer = {to, from, count, 1, 0, 0};
  macaw_dma_wait(macaw_dma_copy(&transfer));
}

/* There is no C library here. */
static void print(const char *text) {
  int count = 0;
  while (text[count]) count++;
  macaw_write(1, text, count);
}

static void print_number(int value) {
  char digits[12], *at = digits + sizeof digits;
  unsigned rest = value < 0 ? -(unsigned)value : (unsigned)value;
  *--at = 0;
  do *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) *--at = '-';
  print(at);
}

int main(void) {
  macaw_dma_copy(&part);                    /* goes on while the next line copies */
  copy(x_slot, (uint32_t)x, sizeof x);      /* x to its place in the part */
  macaw_dma_wait(0);                        /* for all copies */
  macaw_mem_swap(1);                        /* the half that was filled now feeds row 0 */
  macaw_dispatch(1, net_address);           /* mask of rows, list of packets */
  macaw_core_wait(MACAW_MASK(MACAW_PE(0)));
  copy((uint32_t)y, y_slot, sizeof y);

  int best = 0;
  for (int i = 1; i < 8; i++)
    if (y[i] > y[best]) best = i;
  print("largest: y[");
  print_number(best);
  print("] = ");
  print_number(y[best]);
  print("\n");
  return 0;
}
