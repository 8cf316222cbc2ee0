/* A stable sort of records by one of their members. */
#include "support.h"

struct record {
  u8 key;
  u16 number;
  const char *name;
};

static struct record records[40], spare[40];

static void merge(u32 begin, u32 end) {
  if (end - begin < 2) return;
  u32 middle = (begin + end) / 2, left = begin, right = middle;
  merge(begin, middle);
  merge(middle, end);
  for (u32 to = begin; to < end; to++)
    if (right == end || (left < middle && records[left].key <= records[right].key))
      spare[to] = records[left++];
    else
      spare[to] = records[right++];
  for (u32 i = begin; i < end; i++) records[i] = spare[i];
}

int main(void) {
  static const char *const names[] = {"ash", "birch", "cedar"};
  for (u16 i = 0; i < LENGTH(records); i++) {
    records[i].key = next_random() % 9;
    records[i].number = i;
    records[i].name = names[i % 3];
  }
  merge(0, LENGTH(records));
  for (u32 i = 0; i < LENGTH(records); i++) {
    print_number(records[i].key);
    print(" ");
    print_number(records[i].number);
    print(" ");
    print(records[i].name);
    print(i % 4 == 3 ? "\n" : ", ");
  }
  for (u32 i = 1; i < LENGTH(records); i++)
    if (records[i - 1].key == records[i].key && records[i - 1].number > records[i].number) return 1;
  return 0;
}
