# The function of spu activation stands in the header.
        .core   pe
        .seq    a, activation=none
          st
        .endseq
        .seq    b, activation=relu
          st
        .endseq
        .seq    c, activation=sigmoid
          st
        .endseq
        .seq    d, activation=tanh
          st
        .endseq
#! at .pe.0+0x03 00
#! at .pe.0+0x15 01
#! at .pe.0+0x27 02
#! at .pe.0+0x39 03
