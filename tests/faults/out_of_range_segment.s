# A segment of a packet that was made by hand leaves the unit's half.
#! fault out-of-range access: segment 0 is at offsets 0x7fff8 to 0x80007, half a unit has 0x80000 bytes
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0, 1                    #! here
        .half   0
        .word   1
        .byte   3, 0, 0, 0              # a segment: sequence, broadcast
        .word   0x7fff8, 16             # offset, length
        .endlist
