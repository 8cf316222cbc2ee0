# A tensor that an exe names has a place behind the data, on a multiple of 32.
        .device tiny
        .input  x, int8, 3
        .core   pe
        .seq    s
          ld    activations
        .endseq
        .list   l
        config  ib=0, s
        exe     ib=0, data=x
        .endlist
        .data
        .word   slot(x, 0)
#! bytes .data 60000010
