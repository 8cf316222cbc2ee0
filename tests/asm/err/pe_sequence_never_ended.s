# The end of the part, or another sequence, ends it too late.
        .core   pe
        .seq    a                         #! error 9-18: the sequence 'a' has no .endseq
          st
        .seq    b                         #! error 9-18: the sequence 'b' has no .endseq
          st
