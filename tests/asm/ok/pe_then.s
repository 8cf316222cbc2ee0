# .then ib=N is 128 + N in the header; a place without the name will do.
        .core   pe
        .seq    a
        .then   ib=0
          st
        .endseq
        .seq    b
        .then   31
          st
        .endseq
#! at .pe.0+0x06 80
#! at .pe.0+0x18 9f
