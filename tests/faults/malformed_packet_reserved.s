# A reserved member of a packet that is set.
#! fault malformed packet: packet: reserved must be zero, not 0x1
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0x60, 0                 #! here
        .half   1
        .word   1
        .endlist
