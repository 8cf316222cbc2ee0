/* All places of a pattern (Knuth, Morris and Pratt). */
#include "support.h"

static const char text[] = "abababacababacabacababababacabababacaabababaca";
static const char *patterns[] = {"ababaca", "aba", "caba", "x", "aa", "abababacab"};

static void search(const char *pattern) {
  int length = (int)strlen(pattern), fail[16] = {0};
  for (int i = 1, k = 0; i < length; i++) {
    while (k && pattern[i] != pattern[k]) k = fail[k - 1];
    if (pattern[i] == pattern[k]) k++;
    fail[i] = k;
  }
  print(pattern);
  print(":");
  for (int i = 0, k = 0; text[i]; i++) {
    while (k && text[i] != pattern[k]) k = fail[k - 1];
    if (text[i] == pattern[k]) k++;
    if (k == length) {
      print(" ");
      print_number(i - length + 1);
      k = fail[k - 1];
    }
  }
  print("\n");
}

int main(void) {
  for (u32 i = 0; i < LENGTH(patterns); i++) search(patterns[i]);
  return 0;
}
