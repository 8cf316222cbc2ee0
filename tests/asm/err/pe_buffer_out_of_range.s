# 0 to 31.
        .core   pe
        .seq    s
          st
        .endseq
        config  ib=32, s                  #! error 20-22: ib: 32 is out of range, 0 to 31
        exe     ib=-1                     #! error 20-22: ib: -1 is out of range, 0 to 31
