# Once for each register.
        .core cp
        .irp r, a0, a1, a2
        addi \r, \r, 1
        .endr
#! bytes .text.cp 13051500 93851500 13061600
