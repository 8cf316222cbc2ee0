# config carries offset and length of the sequence.
        .core   pe
        .seq    s
          st
        .endseq
        config  ib=5, s
#! at .pe.0 05 01 0000 0f000000 03 00 00 00 16000000 12000000 20
