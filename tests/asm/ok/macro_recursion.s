# A macro without end; what follows it is read.
        .macro down n
        .byte \n
        .if \n
        down "(\n - 1)"
        .endif
        .endm
        down 4
#! bytes .data 04 03020100
