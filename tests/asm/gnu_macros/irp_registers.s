        .text
        .irp r, a0, a1, s0
        addi \r, \r, 1
        sw \r, 0(sp)
        .endr
