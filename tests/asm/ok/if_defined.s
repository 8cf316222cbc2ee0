# Defined is what has a value or place before, in this file.
        .equ yes, 1
        .global shared
label:  .ifdef yes
        .byte 1
        .endif
        .ifdef label
        .byte 2
        .endif
        .ifndef later
        .byte 3
        .endif
        .ifdef shared                   # said, but not defined
        .byte 4
        .endif
        .ifdef a0                       # a register is no symbol
        .byte 5
        .endif
        .ifnotdef nothing
        .byte 6
        .endif
        .word later
later:
shared:
#! bytes .data 01020306 08000080
