# The scalar pipeline state decides what the weight queue does.
        .core   pe
        .seq    a, state=sq
          st
        .endseq
        .seq    b, state=rq
          st
        .endseq
        .seq    c, state=sw, window=9, pop=3
          st
        .endseq
#! at .pe.0+0x01 00
#! at .pe.0+0x13 01
#! at .pe.0+0x25 02
#! at .pe.0+0x30 0900 0300
