# A bank in two blocks, in words that no assembler saw.
#! fault bad block: bank 0 is in two blocks of the program
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .word   0x04000001, 0x08000000
        .word   0x04000003                     #! here
        .word   0x08000000
