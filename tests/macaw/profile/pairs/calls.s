# cp calls a function for each number. Mended: the code of the function is in the loop.
        .device tiny
        .output y, int32, 1
        .core   cp
_start: li      s0, 200
        li      s1, 0
        .ifndef MENDED
1:      mv      a0, s0
        call    square                  # here
        add     s1, s1, a0
        .else
1:      slli    a0, s0, 1
        addi    a0, a0, 3
        add     s1, s1, a0
        .endif
        addi    s0, s0, -1
        bnez    s0, 1b
        la      t0, y
        sw      s1, (t0)
        li      a0, 0
        li      a7, 93
        ecall
square: slli    a0, a0, 1
        addi    a0, a0, 3
        ret                             # here
