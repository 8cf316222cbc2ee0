# One .loop a sequence.
        .core   pe
        .seq    s
        .loop   inner=2
        .loop   outer=2                   #! error 9-14: the sequence has two .loop
          st
        .endseq
