# `.` is the address of the statement.
        .core   cp
        j       . + 8
        nop
        beq     a0, a1, . - 4
        .data
        .word   0, . - 4
#! bytes .text.cp 6f008000 13000000 e30eb5fe
#! bytes .data 00000000 00000080
