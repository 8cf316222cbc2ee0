/* All orders of five letters, and the next one in the order of words. */
#include "support.h"

static int found;
static u32 check;

static void permute(char *letters, int fixed, int count) {
  if (fixed == count) {
    found++;
    for (int i = 0; i < count; i++) check = check * 33 + (u8)letters[i];
    return;
  }
  for (int i = fixed; i < count; i++) {
    char kept = letters[fixed];
    letters[fixed] = letters[i];
    letters[i] = kept;
    permute(letters, fixed + 1, count);
    letters[i] = letters[fixed];
    letters[fixed] = kept;
  }
}

static int next(char *letters, int count) {
  int i = count - 2, j = count - 1;
  while (i >= 0 && letters[i] >= letters[i + 1]) i--;
  if (i < 0) return 0;
  while (letters[j] <= letters[i]) j--;
  for (;;) {
    char kept = letters[i];
    letters[i] = letters[j];
    letters[j] = kept;
    if (j == count - 1 && i + 1 >= j) return 1;
    break;
  }
  for (i++, j = count - 1; i < j; i++, j--) {
    char kept = letters[i];
    letters[i] = letters[j];
    letters[j] = kept;
  }
  return 1;
}

int main(void) {
  char letters[] = "abcde", word[] = "aabbc";
  permute(letters, 0, 5);
  show("found", found);
  print_hex(check);
  print("\n");
  do {
    print(word);
    print(word[0] == 'c' ? "\n" : " ");
  } while (next(word, 5));
  print("\n");
  return 0;
}
