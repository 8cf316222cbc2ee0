# mac looks for its activations in block 2, ld put them into block 0.
#! fault index out of range: cluster 0, PE 0: weight index 0 \+ base 512 = 512, nothing is loaded there
#! core pe\[0\]
        .device tiny
        .core   pe
w:      .half   1, 0
        .byte   1
x:      .byte   1, 1
        .seq    layer
          ld    activations, base=0
          ld    weights
          mac   base=2                  #! here
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(activations x broadcast, weights w broadcast)
