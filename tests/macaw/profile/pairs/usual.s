# vc finds the largest of 256 numbers, and jumps in the usual case. Mended: the usual case goes on
# without a jump, and the loop has eight numbers a turn.
        .device tiny
        .output y, int32, 1
        .core   vc
        li      s0, 0
        li      s1, 256
        li      t0, 0
        li      s2, 7
        .ifndef MENDED
1:      andi    t1, s0, 15
        addi    s0, s0, 1
        bge     t0, t1, 2f              # here
        mv      t0, t1
2:      bne     s0, s1, 1b              # here
        .else
1:      .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        andi    t1, s0, 15
        addi    s0, s0, 1
        blt     t0, t1, more\k
next\k:
        .endr
        bne     s0, s1, 1b
        j       done
        .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
more\k: mv     t0, t1
        j       next\k
        .endr
done:
        .endif
        la      t1, y
        sw      t0, (t1)
        li      a0, 0
        li      a7, 93
        ecall
