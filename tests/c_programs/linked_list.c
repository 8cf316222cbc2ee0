/* Lists from a pool: insert in order, reverse, remove. */
#include "support.h"

struct node { i32 value; struct node *next; };

static struct node pool[32];
static u32 taken;

static void insert(struct node **list, i32 value) {
  struct node *fresh = &pool[taken++];
  fresh->value = value;
  while (*list && (*list)->value < value) list = &(*list)->next;
  fresh->next = *list;
  *list = fresh;
}

static struct node *reversed(struct node *list) {
  struct node *result = 0;
  while (list) {
    struct node *next = list->next;
    list->next = result;
    result = list;
    list = next;
  }
  return result;
}

static int remove_odd(struct node **list) {
  int count = 0;
  while (*list)
    if ((*list)->value & 1) {
      *list = (*list)->next;
      count++;
    } else
      list = &(*list)->next;
  return count;
}

static void display(const struct node *list) {
  for (; list; list = list->next) {
    print_number(list->value);
    print(list->next ? " -> " : "\n");
  }
}

int main(void) {
  struct node *list = 0;
  for (int i = 0; i < 20; i++) insert(&list, (i32)(next_random() % 50));
  display(list);
  list = reversed(list);
  display(list);
  show("odd", remove_odd(&list));
  display(list);
  return 0;
}
