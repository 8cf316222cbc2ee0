# cp sums the bytes of a tensor in external memory one by one. Mended: it loads words.
        .device tiny
        .input  x, uint8, 256
        .output y, int32, 1
        .core   cp
_start: la      s0, x
        li      s1, 0
        addi    s2, s0, 256
        .ifndef MENDED
1:      lbu     t0, (s0)                # here
        add     s1, s1, t0
        addi    s0, s0, 1
        bne     s0, s2, 1b
        .else
1:      lw      t0, (s0)
        andi    t1, t0, 255
        add     s1, s1, t1
        srli    t0, t0, 8
        andi    t1, t0, 255
        add     s1, s1, t1
        srli    t0, t0, 8
        andi    t1, t0, 255
        add     s1, s1, t1
        srli    t0, t0, 8
        add     s1, s1, t0
        addi    s0, s0, 4
        bne     s0, s2, 1b
        .endif
        la      t0, y
        sw      s1, (t0)
        li      a0, 0
        li      a7, 93
        ecall
