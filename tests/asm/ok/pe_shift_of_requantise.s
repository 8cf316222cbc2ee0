# Shifts of 0 to 63, also from a symbol that is set later.
        .core   pe
        .seq    a, shift=0
          st
        .endseq
        .seq    b, shift=63
          st
        .endseq
        .seq    c, shift=SHIFT
          st
        .endseq
        .equ    SHIFT, 7
#! at .pe.0+0x05 00
#! at .pe.0+0x17 3f
#! at .pe.0+0x29 07
