# compress lets the distribution unit make index and value.
        .device tiny
        .core   pe
        .seq    s
          ld    weights
        .endseq
a:      .npy    "weights.npy"[0]
        .list   l
        config  ib=0, s
        exe     ib=0, data=(weights a compress)
        .endlist
#! at .pe.0+0x1c 00 01 01 00
