# The distribution unit makes no index + value of dense data yet.
#! fault not available: a segment with compress comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
x:      .byte   0, 1, 0, 2
        .seq    load
          ld    weights
        .endseq
        config  ib=0, load
        exe     ib=0, data=(weights x broadcast compress) #! here
