# Lists come first in the image, then sequences, then data, whatever the source's order.
        .core   pe
data:   .byte   0xdd
        .seq    s
          st
        .endseq
        .list   l
        .endlist
#! symbol l 0x10000000 1 object .pe.0
#! symbol s 0x10000002 18 object .pe.0
#! symbol data 0x10000014 1 object .pe.0
