# One .then a sequence.
        .core   pe
        .seq    s
        .then   ib=1
        .then   ib=2                      #! error 9-14: the sequence has two .then
          st
        .endseq
