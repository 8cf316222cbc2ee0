# A sequence whose header announces another length than its segment has.
#! fault malformed packet: a sequence of 3 instructions and 0 records has 22 bytes, the segment 20
#! core pe\[0\]
        .device tiny
        .core   pe
        .align  1
bad:    .byte   3, 0, 2, 0, 0, 0, 0, 0  #! here
        .half   1, 1, 0, 0
        .half   0x400, 0x800
        config  ib=0, bad
