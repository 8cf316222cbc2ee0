# Blanks stay only where they separate words, strings or characters.
        .data
        .macro two a, b
        .ascii "[\a|\b]"
        .endm
        two 1 + 2, x
        two 1 -2
        two a - 2 b
        two (1 + 2) * 3 , 4
        two 8(sp) 3
        two 1 (2)
        two %hi(x) 4
        two a : b
        two ~ 3, ! 4
        two	tab	bed
