# Bit 5 of a config command must be zero (seed 000, Table 1).
#! fault reserved bit set: the command 0x25: bits 0x20 of config must be zero
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0x25, 0                 #! here
        .half   0
        .word   3
        .endlist
