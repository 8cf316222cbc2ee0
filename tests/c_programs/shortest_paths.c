/* Dijkstra from one node, and all pairs (Floyd and Warshall). */
#include "support.h"

#define NODES 8
#define FAR 0x3fffffff
static i32 edges[NODES][NODES];

static void dijkstra(int from, i32 *distances) {
  u8 done[NODES] = {0};
  for (int i = 0; i < NODES; i++) distances[i] = FAR;
  distances[from] = 0;
  for (;;) {
    int at = -1;
    for (int i = 0; i < NODES; i++)
      if (!done[i] && distances[i] < FAR && (at < 0 || distances[i] < distances[at])) at = i;
    if (at < 0) return;
    done[at] = 1;
    for (int i = 0; i < NODES; i++)
      if (distances[at] + edges[at][i] < distances[i]) distances[i] = distances[at] + edges[at][i];
  }
}

int main(void) {
  for (int i = 0; i < NODES; i++)
    for (int j = 0; j < NODES; j++) edges[i][j] = i == j ? 0 : FAR;
  for (int i = 0; i < 18; i++) edges[next_random() % NODES][next_random() % (NODES - 1)] = (i32)(next_random() % 90) + 1;
  i32 all[NODES][NODES], one[NODES];
  memcpy(all, edges, sizeof all);
  for (int k = 0; k < NODES; k++)
    for (int i = 0; i < NODES; i++)
      for (int j = 0; j < NODES; j++)
        if (all[i][k] + all[k][j] < all[i][j]) all[i][j] = all[i][k] + all[k][j];
  for (int i = 0; i < NODES; i++) {
    dijkstra(i, one);
    show_all(one, NODES);
    for (int j = 0; j < NODES; j++)
      if (one[j] != (all[i][j] > FAR ? FAR : all[i][j]) && i != j) return i + 1;
  }
  return 0;
}
