/* A scanner of numbers and names: a dense switch, which becomes a table of jumps. */
#include "support.h"

enum state { BLANK, NAME, NUMBER, HEX, FRACTION, TEXT, ESCAPE, SIGN, WRONG };

static const char input[] = "x1 = 0x1F + 3.14*(abc-42) \"a\\\"b\" y_2<=9; 7up .5 0xG";
static const char *const names[] = {"blank", "name", "number", "hex", "fraction", "text", "escape", "sign", "wrong"};
static i32 counts[9];

static int digit(char c) { return c >= '0' && c <= '9'; }
static int letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static enum state next(enum state at, char c) {
  switch (at) {
    case NAME:
      if (letter(c) || digit(c) || c == '_') return NAME;
      break;
    case NUMBER:
      if (digit(c)) return NUMBER;
      if (c == 'x') return HEX;
      if (c == '.') return FRACTION;
      if (letter(c)) return WRONG;
      break;
    case HEX:
      if (digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f')) return HEX;
      if (letter(c)) return WRONG;
      break;
    case FRACTION:
      if (digit(c)) return FRACTION;
      break;
    case TEXT:
      if (c == '\\') return ESCAPE;
      return c == '"' ? BLANK : TEXT;
    case ESCAPE: return TEXT;
    case WRONG:
      if (letter(c) || digit(c)) return WRONG;
      break;
    case BLANK:
    case SIGN: break;
  }
  switch (c) {
    case ' ': case '\t': case '\n': return BLANK;
    case '"': return TEXT;
    case '+': case '-': case '*': case '/': case '(': case ')': case '<': case '>': case '=': case ';': return SIGN;
    case '.': return FRACTION;
    default: return digit(c) ? NUMBER : letter(c) ? NAME : WRONG;
  }
}

int main(void) {
  enum state at = BLANK;
  for (const char *c = input; *c; c++) {
    enum state then = next(at, *c);
    if (then != at || then == SIGN) counts[then]++;
    at = then;
  }
  for (u32 i = 0; i < LENGTH(counts); i++) show(names[i], counts[i]);
  return 0;
}
