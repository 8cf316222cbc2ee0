/* A stack machine with calls, which computes a factorial and prints a line. */
#include "support.h"

enum { PUSH, ADD, SUB, MUL, DUP, SWAP, OVER, DROP, JUMP, JUMP_ZERO, CALL, RETURN, SAY, LETTER, HALT };

static const i8 code[] = {
    /* 0 */ PUSH, 10, CALL, 9, SAY, PUSH, 30, CALL, 26,
    /* 9 */ DUP, JUMP_ZERO, 22, DUP, PUSH, 1, SUB, CALL, 9, MUL, RETURN, HALT, HALT,
    /* 22 */ DROP, PUSH, 1, RETURN,
    /* 26 */ DUP, JUMP_ZERO, 37, PUSH, '*', LETTER, PUSH, 1, SUB, JUMP, 26,
    /* 37 */ HALT};

static i32 stack[64];
static u8 returns[64];

int main(void) {
  int top = -1, calls = 0, steps = 0;
  for (u8 at = 0; steps < 2000; steps++) {
    switch (code[at++]) {
      case PUSH: stack[++top] = code[at++]; break;
      case ADD: top--; stack[top] += stack[top + 1]; break;
      case SUB: top--; stack[top] -= stack[top + 1]; break;
      case MUL: top--; stack[top] *= stack[top + 1]; break;
      case DUP: top++; stack[top] = stack[top - 1]; break;
      case SWAP: { i32 kept = stack[top]; stack[top] = stack[top - 1]; stack[top - 1] = kept; break; }
      case OVER: top++; stack[top] = stack[top - 2]; break;
      case DROP: top--; break;
      case JUMP: at = (u8)code[at]; break;
      case JUMP_ZERO: if (stack[top]) at++; else at = (u8)code[at]; break;
      case CALL: returns[calls++] = (u8)(at + 1); at = (u8)code[at]; break;
      case RETURN: at = returns[--calls]; break;
      case SAY: print_number(stack[top--]); print(" "); break;
      case LETTER: { char text[2] = {(char)stack[top--], 0}; print(text); break; }
      default: print("\n"); show("steps", steps); return 0;
    }
  }
  return 1;
}
