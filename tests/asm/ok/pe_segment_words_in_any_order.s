# The words of a segment stand in any order.
        .device tiny
        .core   pe
        .seq    s
          ld    activations
        .endseq
a:      .npy    "weights.npy"[0]
        .list   l
        config  ib=0, s
        exe     ib=0, data=(sliced a activations, a sliced, activations sliced a)
        .endlist
#! at .pe.0+0x1c 01 01
#! at .pe.0+0x28 01 01
#! at .pe.0+0x34 01 01
