# Local labels of any number, defined again and again.
1:      j       1b
        j       1f
1:      j       1b
2:      j       1b
        j       2b
        j       2f
10:     j       10b
        j       10f
1: 2:   j       1b
10:     beq     a0, a0, 2b
0:      j       0b
        j       0f
0:      nop
        .data
1:      .word   1f - 1b, . - 1b
1:      .word   1b
