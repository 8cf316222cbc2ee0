        .text
        .macro save first, more:vararg
        sw \first, 4 * n(sp)
        .set n, n + 1
        .ifnb \more
        save \more
        .endif
        .endm
        .set n, 0
        save ra, s0, s1
        .macro load r, offset=0, base=sp
        lw \r, \offset(\base)
        .endm
        load a0
        load a1, 4
        load a2, base=gp
        load a3 8 - 4 tp
