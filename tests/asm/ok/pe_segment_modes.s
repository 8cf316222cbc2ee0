# Who gets what: four words.
        .device tiny
        .core   pe
        .seq    s
          ld    activations
        .endseq
a:      .npy    "weights.npy"[0]
        .list   l
        config  ib=0, s
        exe     ib=0, data=(activations a broadcast, activations a sliced, activations a by_cluster, activations a by_pe)
        .endlist
#! at .pe.0+0x15 04
#! at .pe.0+0x1c 01 00
#! at .pe.0+0x28 01 01
#! at .pe.0+0x34 01 02
#! at .pe.0+0x40 01 03
