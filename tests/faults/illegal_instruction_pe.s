# A sequence made of raw halfwords, of which one has 13 bits.
#! fault illegal instruction: the word 0x1000: no instruction of a sequence
#! core pe\[0\]
        .device tiny
        .core   pe
        .align  1
bad:    .byte   2, 0, 2, 0, 0, 0, 0, 0  # count, state, pipeline, activation, reduction, shift, then, steps
        .half   1, 1, 0, 0              # inner, outer, window, pop
        .half   0x400                   # ld weights
        .half   0x1000                  #! here
        config  ib=0, bad
