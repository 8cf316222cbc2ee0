# exe is bit 7; shift is bit 6, last bit 5.
        .core   pe
        .seq    s
          st
        .endseq
        .list   l
        config  ib=1, s
        exe     ib=1
        exe     ib=1, shift
        exe     ib=1, last
        exe     ib=1, last, shift
        .endlist
#! at .pe.0+0x14 81
#! at .pe.0+0x30 c1
#! at .pe.0+0x4c a1
#! at .pe.0+0x68 e1
