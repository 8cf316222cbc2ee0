# A program begins at an instruction, which lies on a multiple of 4.
        .core   cp
        .byte   1, 2            #! warning 4:9-12: the instruction does not lie on a multiple of 4
_start: nop                     #! error 1-7: '_start' lies at 0x10002, no multiple of 4
