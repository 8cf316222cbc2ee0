# The product takes the sum past 2147483647.
#! fault accumulator overflow: cluster 0, PE 0: accumulator 0 holds 2147483640, to be added: 4 \* 2
#! core pe\[0\]
        .device tiny
        .core   pe
p:      .word   2147483640
w:      .half   1, 0
        .byte   4
x:      .byte   2
        .seq    layer
          ld    activations
          ld    weights
          ld    psums, base=1
          mac                           #! here
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(activations x broadcast, weights w broadcast, psums p broadcast)
