# Operators, where their precedence is the same as in C.
        .data
        .dword  1 + 2 * 3, (1 + 2) * 3, 7 - 2 - 1, 16 / 4 / 2, 7 % 4 * 2
        .dword  -7 / 2, -7 % 3, 7 / -2, 7 % -2
        .dword  -5, ~5, !5, !0, -(-3), - -4, ~~9, -~9
        .dword  1 << 4, 1 << 63, -16 >> 2, 256 >> 4 >> 2
        .dword  (1 < 2), (2 < 1), (2 <= 2), (3 > 2), (3 >= 4), (1 == 1), (1 != 1), (1 <> 2)
        .dword  (-1 < 1), (-1 > 1), (0xffffffffffffffff < 1)
        .dword  (3 && 2), (3 && 0), (0 || 0), (0 || 5)
        .dword  (12 & 10), (12 | 10), (12 ^ 10)
        .dword  0x7fffffffffffffff + 1, 0xffffffffffffffff * 2, -0x7fffffffffffffff - 2
        .dword  0x10, 0XfF, 0b101, 0B11, 017, 0, 00
        .dword  'a', ' ', '\\', '\n', 'a' + 1
x:      .word   . - x, . - x, y - x, x - y, (y - x) * 2, (y - x) / 4
y:
