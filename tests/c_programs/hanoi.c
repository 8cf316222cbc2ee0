/* The towers of Hanoi, with the towers held and checked. */
#include "support.h"

static u8 towers[3][8];
static int heights[3], moves;

static void move(int from, int to) {
  u8 disc = towers[from][--heights[from]];
  if (heights[to] && towers[to][heights[to] - 1] < disc) exit_with(9);
  towers[to][heights[to]++] = disc;
  if (moves++ < 12) {
    char text[] = {(char)('A' + from), '>', (char)('A' + to), ' ', 0};
    print(text);
  }
}

static void solve(int discs, int from, int to) {
  if (!discs) return;
  solve(discs - 1, from, 3 - from - to);
  move(from, to);
  solve(discs - 1, 3 - from - to, to);
}

int main(void) {
  for (int i = 8; i > 0; i--) towers[0][heights[0]++] = (u8)i;
  solve(8, 0, 2);
  print("\n");
  show("moves", moves);
  show("height", heights[2]);
  return 0;
}
