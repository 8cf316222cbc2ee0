# li of what expressions give.
        .core   cp
        .equ    ROW, 3
        li      a0, 1 << ROW
        li      a1, 1 << (16 + ROW)
        li      a2, 'A'
        li      a3, ~0
#! bytes .text.cp 13058000 b7050800 13061004 9306f0ff
