# Everything about the results said.
        .device tiny
        .output y, int16, 64
        .core   pe
        .seq    s
          st
        .endseq
        .list   l
        config  ib=0, s
        exe     ib=0, last, out=(y[0], stride=8, step=2, count=4, pes=8, type=int16)
        .endlist
#! at .pe.0+0x20 08000000 02000000 0400 0800 01
