/* A determinant without fractions (Bareiss), in 64 bits. */
#include "support.h"

static i64 determinant(i64 m[6][6], int n) {
  i64 before = 1, sign = 1;
  for (int k = 0; k < n - 1; k++) {
    int row = k;
    while (row < n && m[row][k] == 0) row++;
    if (row == n) return 0;
    if (row != k) {
      sign = -sign;
      for (int j = 0; j < n; j++) {
        i64 kept = m[k][j];
        m[k][j] = m[row][j];
        m[row][j] = kept;
      }
    }
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) / before;
    before = m[k][k];
  }
  return sign * m[n - 1][n - 1];
}

int main(void) {
  for (int n = 1; n <= 6; n++) {
    i64 m[6][6];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) m[i][j] = (i * 5 + j * j * 3 + i * j) % 11 - (i == j);
    i64 value = determinant(m, n);
    print_hex((u32)((u64)value >> 32));
    print_hex((u32)value);
    print("\n");
  }
  return 0;
}
