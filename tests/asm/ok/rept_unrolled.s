# A loop that is unrolled.
        .core cp
        .set at, 0
        .rept 4
        lw t0, at(a0)
        sw t0, at(a1)
        .set at, at + 4
        .endr
#! bytes .text.cp 83220500 23a05500 83224500 23a25500
#! bytes .text.cp 83228500 23a45500 8322c500 23a65500
