# int16 activations meet a sequence of int8.
#! fault type mismatch: cluster 0: the activations are int16, the sequence in buffer 0 multiplies int8
#! core pe\[0\]
        .device tiny
        .setting pe.widest, int16
        .core   pe, row=0
        .seq    layer
          ld    activations
          ld    weights
          mac                           #! here
        .endseq
x:      .array  int16, 8
w:      .array  int8, 8
        config  ib=0, layer
        exe     ib=0, data=(activations x, weights w sliced dense)
