# Each row has its own sequences.
        .device tiny
        .core   pe, row=0
        .seq    s
          st
        .endseq
        .core   pe, row=1
        config  ib=0, s                   #! error 23-24: 's' does not lie in row 1 | put it after '.core pe, row=1'
