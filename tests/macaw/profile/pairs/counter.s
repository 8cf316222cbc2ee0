# cp counts in a word of memory. Mended: in a register.
        .device tiny
        .output y, int32, 1
        .core   cp
_start: la      s1, y
        li      s2, 60
        sw      zero, (s1)
        .ifdef  MENDED
        li      t1, 0
        .endif
1:      .ifndef MENDED
        lw      t1, (s1)                # here
        add     t1, t1, s2
        sw      t1, (s1)                # here
        .else
        add     t1, t1, s2
        .endif
        addi    s2, s2, -1
        bnez    s2, 1b
        sw      t1, (s1)
        li      a0, 0
        li      a7, 93
        ecall
