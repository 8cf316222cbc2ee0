# 2 times 100 is no int8; spu requantise would make it one.
#! fault store overflow: cluster [01], PE 0: the result 200 does not fit int8
#! core pe\[0\]
        .device tiny
        .output y, int8, 8
        .core   pe
w:      .half   1, 0
        .byte   2
x:      .byte   100
        .seq    layer
          ld    activations
          ld    weights
          mac
          spu   nonsf
          st                            #! here
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(activations x broadcast, weights w broadcast), out=y
