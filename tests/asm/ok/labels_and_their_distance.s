# The difference of two labels is a number.
first:  .word   1, 2, 3
last:   .word   last - first, (last - first) / 4
        .byte   . - first
#! bytes .data 01000000 02000000 03000000 0c000000
#! bytes .data 03 00000014
