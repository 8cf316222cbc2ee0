# vc stores the bytes of words one by one. Mended: the word.
        .device tiny
        .output y, int8, 1024
        .core   vc
        li      t0, 0x04030201
        la      s1, y
        li      s2, 64
1:
        .ifndef MENDED
        srli    t1, t0, 8
        srli    t2, t0, 16
        srli    t3, t0, 24
        sb      t0, (s1)
        sb      t1, 1(s1)                # here
        sb      t2, 2(s1)
        sb      t3, 3(s1)
        .else
        sw      t0, (s1)
        .endif
        addi    s1, s1, 16
        addi    s2, s2, -1
        bnez    s2, 1b
        li      a0, 0
        li      a7, 93
        ecall
