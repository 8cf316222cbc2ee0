/* Words of a text: their count, their lengths, turned round in place, palindromes. */
#include "support.h"

static char text[] = "never odd or even, was it a rat i saw; level  radar\tnoon\nstop";

static int letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static void reverse(char *begin, char *end) {
  while (begin < --end) {
    char kept = *begin;
    *begin++ = *end;
    *end = kept;
  }
}

static int palindrome(const char *begin, const char *end) {
  while (begin < --end)
    if (*begin++ != *end) return 0;
  return 1;
}

int main(void) {
  int words = 0, same = 0;
  i32 lengths[12] = {0};
  for (char *at = text; *at;) {
    while (*at && !letter(*at)) at++;
    char *begin = at;
    while (letter(*at)) at++;
    if (begin == at) break;
    words++;
    lengths[at - begin]++;
    same += palindrome(begin, at);
    reverse(begin, at);
  }
  print(text);
  print("\n");
  show("words", words);
  show("palindromes", same);
  show_all(lengths, LENGTH(lengths));
  return words;
}
