# Sequences and lists are no data.
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        .seq    s
          st
        .endseq
        exe     ib=0, data=(weights s)    #! error 29-38: 's' is a sequence, no data
