# Two records of weights, but a broadcast has one slice.
#! fault slice mismatch: segment 0 has more than 1 weights records, a slice each
#! core pe\[0\]
        .device tiny
        .core   pe
w:      .half   1, 0
        .byte   1
        .half   1, 0
        .byte   2
        .seq    load
          ld    weights
        .endseq
        config  ib=0, load
        exe     ib=0, data=(weights w broadcast) #! here
