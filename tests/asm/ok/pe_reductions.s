# So does that of spu reduce.
        .core   pe
        .seq    a, reduction=add
          st
        .endseq
        .seq    b, reduction=max
          st
        .endseq
        .seq    c, reduction=scalar_add
          st
        .endseq
        .seq    d, reduction=scalar_max
          st
        .endseq
#! at .pe.0+0x04 01
#! at .pe.0+0x16 02
#! at .pe.0+0x28 03
#! at .pe.0+0x3a 04
