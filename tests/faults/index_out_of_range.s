# The weight of index 2 wants a third activation.
#! fault index out of range: cluster 0, PE 0: weight index 2 \+ base 0 = 2, activations end before 2
#! core pe\[0\]
        .device tiny
        .core   pe
w:      .half   1, 2
        .byte   1
x:      .byte   1, 1
        .seq    layer
          ld    activations
          ld    weights
          mac                           #! here
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(activations x broadcast, weights w broadcast)
