# Operators bind as in C; what they give is what GNU as gives.
        .byte   1 + 2 * 3, (1 + 2) * 3, 7 - 2 - 1, 16 / 4 / 2, 7 % 4, -7 / 2, -7 % 3
        .byte   1 << 2 + 1, 1 | 2 ^ 3 & 2, 5 & 3 == 3, 6 ^ 2 | 8, ~5, !5, !0, -(-3), +4, - - 4
        .byte   1 < 2, 2 < 1, 2 <= 2, 3 > 2, 3 >= 4, 1 == 1, 1 != 1, 1 <> 2
        .byte   3 && 2, 3 && 0, 0 || 0, 0 || 5, 1 || 1 / 1
        .dword  -1 >> 60, 1 << 63, 0x7fffffffffffffff + 1, 0xffffffffffffffff, 1 << 32 >> 32
        .word   %hi(0x12345fff), %lo(0x12345fff), %hi(-1), %lo(-1)
        .byte   'a', 0x1F, 0b101, 017, 0
x:      .word   . - x, . - x, y - x, x - y
y:
#! at .data+0x00 0709040203fdff
#! at .data+0x07 08 01 05 0c fa 00 01 03 04 04
#! at .data+0x11 ff00ffff00ff00ff
#! at .data+0x19 0100000101
#! at .data+0x1e 0f00000000000000 0000000000000080 0000000000000080 ffffffffffffffff 0100000000000000
#! at .data+0x46 46230100 ffffffff 00000000 ffffffff
#! at .data+0x56 611f050f00
#! at .data+0x5b 00000000 04000000 10000000 f0ffffff
