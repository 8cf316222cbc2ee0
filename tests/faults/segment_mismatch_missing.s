# The sequence loads weights too.
#! fault segment mismatch: ld takes weights, next in the exe is no segment left
#! core pe\[0\]
        .device tiny
        .core   pe
x:      .byte   1, 1
        .seq    layer
          ld    activations
          ld    weights                 #! here
          mac
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(activations x broadcast)
