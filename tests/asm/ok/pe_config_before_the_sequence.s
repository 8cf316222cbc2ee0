# A sequence may be configured before it is written.
        .core   pe
        config  ib=0, later
        .seq    later
          st
        .endseq
#! at .pe.0+8 03 00 00 00 16000000 12000000
