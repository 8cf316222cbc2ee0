# Loops run once at least.
        .core   pe
        .seq    s
        .loop   inner=0                   #! error 23-24: inner: 0 is out of range, 1 to 65535
          st
        .endseq
        .seq    t
        .loop   outer=65536               #! error 23-28: outer: 65536 is out of range, 1 to 65535
          st
        .endseq
