# The segments of an exe come in the order of the sequence's lds.
#! fault segment mismatch: ld takes activations, next in the exe is weights \(segment 0\)
#! core pe\[0\]
        .device tiny
        .core   pe
w:      .half   1, 0
        .byte   1
x:      .byte   1, 1
        .seq    layer
          ld    activations             #! here
          ld    weights
          mac
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(weights w broadcast, activations x broadcast)
