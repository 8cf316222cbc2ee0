# Results may go to any place of the unit's half.
        .core   pe
        .seq    s
          st
        .endseq
        .list   l
        config  ib=0, s
        exe     ib=0, out=(unit[0x100], type=fp32)
        .endlist
#! at .pe.0+0x1c 00010000 04000000 04000000 0100 0000 05
