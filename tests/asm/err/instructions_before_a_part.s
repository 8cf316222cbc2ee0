# Instructions stand in a part; it is said once.
        .device base
        nop                               #! error 9-12: 'nop' is in no part | begin one, as in '.core cp'
        addi    a0, a0, 1
        .word   1
