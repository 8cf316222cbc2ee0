# A block without an end, in words that no assembler saw.
#! fault bad block: a block without its end
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .word   0x04000001                     #! here
