# An error in a macro of a macro: the line of the body, then the calls.
        .core cp
        .macro inner value
        li a0, 0
        addi a0, a0, \value               #! error 22-28: imm: 5000 is out of range, -2048 to 2047
        .endm
        .macro outer value
        inner \value
        inner 1
        .endm
        outer 5000
        outer 1
