# A li of a number that is not known yet takes both instructions.
        .core   cp
        li      a0, later
        li      a0, 5
        .equ    later, 5
        li      a0, later
#! bytes .text.cp 37050000 13055500 13055000 13055000
