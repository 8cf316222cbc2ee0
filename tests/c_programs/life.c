/* Conway's game on a torus. */
#include "support.h"

#define SIZE 8
static u8 board[2][SIZE][SIZE];

int main(void) {
  static const u8 glider[][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}, {5, 5}, {5, 6}, {5, 7}};
  for (u32 i = 0; i < LENGTH(glider); i++) board[0][glider[i][0]][glider[i][1]] = 1;
  for (int turn = 0; turn < 12; turn++) {
    u8(*now)[SIZE] = board[turn & 1], (*then)[SIZE] = board[~turn & 1];
    int alive = 0;
    for (int y = 0; y < SIZE; y++)
      for (int x = 0; x < SIZE; x++) {
        int near = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) near += now[(y + dy) & (SIZE - 1)][(x + dx) & (SIZE - 1)];
        alive += then[y][x] = near == 3 || (near == 2 && now[y][x]);
      }
    show("alive", alive);
  }
  for (int y = 0; y < SIZE; y++) {
    char line[SIZE + 2];
    for (int x = 0; x < SIZE; x++) line[x] = board[0][y][x] ? '#' : '.';
    line[SIZE] = '\n';
    line[SIZE + 1] = 0;
    print(line);
  }
  return 0;
}
