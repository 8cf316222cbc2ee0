/* Queens on a board, with sets of bits and with an array. */
#include "support.h"

static int count(u32 all, u32 columns, u32 left, u32 right) {
  if (columns == all) return 1;
  int sum = 0;
  for (u32 open = all & ~(columns | left | right); open; open &= open - 1) {
    u32 bit = open & -open;
    sum += count(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return sum;
}

static int board[8];

static int place(int row) {
  if (row == 8) return 1;
  for (int column = 0; column < 8; column++) {
    int safe = 1;
    for (int other = 0; other < row && safe; other++) {
      int apart = board[other] - column;
      safe = apart && apart != row - other && apart != other - row;
    }
    if (!safe) continue;
    board[row] = column;
    if (place(row + 1)) return 1;
  }
  return 0;
}

int main(void) {
  for (u32 n = 1; n <= 6; n++) show("ways", count((1u << n) - 1, 0, 0, 0));
  if (place(0)) show_all(board, 8);
  return 0;
}
