# Logical operators give 1.
        .word   1 && 2, 1 && 0, 0 || 3, 0 || 0
#! bytes .data 01000000 00000000 01000000 00000000
