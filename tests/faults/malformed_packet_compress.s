# Only weights become index + value.
#! fault malformed packet: segment 0: compress makes weights, it holds activations
#! core pe\[0\]
        .device tiny
        .core   pe
x:      .byte   0, 1, 0, 2
        .seq    load
          ld    activations
        .endseq
        config  ib=0, load
        exe     ib=0, data=(activations x broadcast compress) #! here
