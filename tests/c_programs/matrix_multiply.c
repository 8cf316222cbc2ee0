/* Products of small matrices, of three element types. */
#include "support.h"

#define N 7
static i32 left[N][N], right[N][N], product[N][N];

static void multiply(const i32 a[N][N], const i32 b[N][N], i32 c[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      i32 sum = 0;
      for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

static i32 dot_bytes(const i8 *a, const u8 *b, int count) {
  i32 sum = 0;
  while (count--) sum += *a++ * *b++;
  return sum;
}

int main(void) {
  i8 signed_bytes[40];
  u8 bytes[40];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      left[i][j] = i * j - 9;
      right[i][j] = (i == j) + 2 * (i < j) - 3 * (i > j);
    }
  multiply(left, right, product);
  for (int i = 0; i < N; i++) show_all(product[i], N);
  multiply(product, product, left);
  show_all(left[N - 1], N);
  for (int i = 0; i < 40; i++) {
    signed_bytes[i] = (i8)(i * 37);
    bytes[i] = (u8)(i * 91);
  }
  show("bytes", dot_bytes(signed_bytes, bytes, 40));
  return 0;
}
