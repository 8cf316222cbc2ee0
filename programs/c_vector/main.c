/* main.c - a dot product of 256 signed bytes on vc, once by vectors and once by numbers. */
#include "macaw.h"

enum { BLOCK = 16, COUNT = 256 };

extern const int8_t weights[COUNT];

/* Lane i of x meets lane i of the weights. */
MACAW_EXTERNAL_DATA static uint8_t order[BLOCK] __attribute__((aligned(16))) = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* The registers of vc are numbers here: no compiler knows or changes them. */
#define XS 0
#define WS 1
#define ORDER 2
#define SUMS 3

MACAW_VC_CODE static int by_vectors(void) {
  macaw_vld(ORDER, 0, order);
  macaw_vsplat_w(SUMS, 0);
  for (int i = 0; i < COUNT; i += BLOCK) {
    macaw_vld(XS, 0, x + i);
    macaw_vld(WS, 0, weights + i);
    macaw_pmac_s8(SUMS, XS, WS, ORDER, 1);  /* four sums of 32 bits */
  }
  macaw_vsum_w(SUMS, SUMS);                 /* one of 64 */
  return macaw_vext_w(SUMS, 0);
}

MACAW_VC_CODE static int by_numbers(void) {
  int sum = 0;
  for (int i = 0; i < COUNT; i++) sum += x[i] * weights[i];
  return sum;
}

#define now() macaw_csr_read(MACAW_CSR_CYCLE)

/* Where vc begins; it has a stack of its own, at the end of external memory. */
MACAW_VC_CODE static void vc_main(void) {
  uint32_t start = now();
  sums[0] = by_vectors();
  cycles[0] = now() - start;
  start = now();
  sums[1] = by_numbers();
  cycles[1] = now() - start;
  macaw_exit(0);
}

/* cp begins here, its stack at the end of its local memory. */
void _start(void) {
  macaw_core_start(MACAW_VC, (uint32_t)vc_main);
  macaw_core_wait(MACAW_MASK(MACAW_VC));
  macaw_exit(sums[0] != sums[1]);
}
