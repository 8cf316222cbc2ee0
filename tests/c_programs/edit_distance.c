/* Levenshtein's distance and the longest common part, by tables. */
#include "support.h"

static u8 table[20][20];

static int least(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

static int distance(const char *a, const char *b) {
  int n = (int)strlen(a), m = (int)strlen(b);
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= m; j++)
      table[i][j] = (u8)(!i ? j : !j ? i
        : least(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1])));
  return table[n][m];
}

static void common(const char *a, const char *b) {
  int best = 0, end = 0;
  memset(table, 0, sizeof table);
  for (int i = 1; a[i - 1]; i++)
    for (int j = 1; b[j - 1]; j++)
      if (a[i - 1] == b[j - 1] && (table[i][j] = (u8)(table[i - 1][j - 1] + 1)) > best) best = table[end = i][j];
  char part[20] = {0};
  memcpy(part, a + end - best, (u32)best);
  print(part);
  print("\n");
}

int main(void) {
  static const char *pairs[][2] = {{"kitten", "sitting"}, {"flaw", "lawn"}, {"", "abc"}, {"assembler", "resemblance"}};
  for (u32 i = 0; i < LENGTH(pairs); i++) {
    show("distance", distance(pairs[i][0], pairs[i][1]));
    common(pairs[i][0], pairs[i][1]);
  }
  return 0;
}
