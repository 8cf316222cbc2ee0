# A part goes on where it ended before.
        .core   cp
first:  nop
        .core   pe
        .byte   1
        .core   cp
second: nop
#! section .text.cp 0x10000 8
#! symbol first 0x10000 4 func .text.cp
#! symbol second 0x10004 4 func .text.cp
