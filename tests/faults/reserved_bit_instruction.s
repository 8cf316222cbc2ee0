# Bits 1..0 of mac must be zero (seed 000, Table 2).
#! fault reserved bit set: the word 0x0001: bits 0x1 of mac must be zero
#! core pe\[0\]
        .device tiny
        .core   pe
        .align  1
bad:    .byte   1, 0, 2, 0, 0, 0, 0, 0  # count, state, pipeline, activation, reduction, shift, then, steps
        .half   1, 1, 0, 0              # inner, outer, window, pop
        .half   0x001                   #! here
        config  ib=0, bad
