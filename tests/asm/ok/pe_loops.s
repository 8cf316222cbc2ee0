# .loop gives the loopbacks of the inner and the outer loop.
        .core   pe
        .seq    s
        .loop   inner=14, outer=3
          st
        .endseq
        .seq    t
        .loop   inner=65535
          st
        .endseq
#! at .pe.0+0x08 0e00 0300
#! at .pe.0+0x1a ffff 0100
