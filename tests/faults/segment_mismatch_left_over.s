# No ld of the sequence wants the second segment.
#! fault segment mismatch: no ld takes segment 1 \(activations\) of the exe
#! core pe\[0\]
        .device tiny
        .core   pe
x:      .byte   1, 1
        .seq    load
          ld    activations             #! here
        .endseq
        config  ib=0, load
        exe     ib=0, data=(activations x broadcast, activations x broadcast)
