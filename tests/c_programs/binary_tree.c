/* A search tree: insert, depth, walk in order. */
#include "support.h"

typedef struct tree { struct tree *left, *right; i32 key; u16 count; } tree;

static tree nodes[64];
static int used;

static tree *insert(tree *at, i32 key) {
  if (!at) {
    at = &nodes[used++];
    at->key = key;
    at->count = 1;
    return at;
  }
  if (key == at->key) at->count++;
  else if (key < at->key) at->left = insert(at->left, key);
  else at->right = insert(at->right, key);
  return at;
}

static int depth(const tree *at) {
  if (!at) return 0;
  int left = depth(at->left), right = depth(at->right);
  return 1 + (left > right ? left : right);
}

static void walk(const tree *at, void (*visit)(const tree *)) {
  if (!at) return;
  walk(at->left, visit);
  visit(at);
  walk(at->right, visit);
}

static i32 sum;
static void add(const tree *at) { sum += at->key * at->count; }
static void say(const tree *at) {
  print_number(at->key);
  print(at->count > 1 ? "+ " : " ");
}

int main(void) {
  tree *root = 0;
  for (int i = 0; i < 60; i++) root = insert(root, (i32)(next_random() % 200) - 100);
  walk(root, say);
  print("\n");
  walk(root, add);
  show("depth", depth(root));
  show("sum", sum);
  show("nodes", used);
  return 0;
}
