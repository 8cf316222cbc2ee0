/* Words and their counts in a table with open addresses. */
#include "support.h"

static const char poem[] =
    "the cat and the dog and the bird and a fish saw the cat the dog saw a bird a fish saw nothing";
static struct { char word[12]; i32 count; } table[32];

static u32 hash(const char *text, u32 length) {
  u32 value = 2166136261u;
  while (length--) value = (value ^ (u8)*text++) * 16777619u;
  return value;
}

static i32 *find(const char *text, u32 length) {
  for (u32 at = hash(text, length) % LENGTH(table);; at = (at + 1) % LENGTH(table)) {
    if (!table[at].word[0]) memcpy(table[at].word, text, length);
    if (!memcmp(table[at].word, text, length) && !table[at].word[length]) return &table[at].count;
  }
}

int main(void) {
  for (const char *at = poem; *at;) {
    const char *begin = at;
    while (*at && *at != ' ') at++;
    ++*find(begin, (u32)(at - begin));
    while (*at == ' ') at++;
  }
  for (u32 i = 0; i < LENGTH(table); i++)
    if (table[i].word[0]) show(table[i].word, table[i].count);
  return 0;
}
