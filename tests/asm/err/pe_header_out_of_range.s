# Numbers of the header, one more than the most.
        .core   pe
        .seq    a, shift=64               #! error 26-28: shift: 64 is out of range, 0 to 63
          st
        .endseq
        .seq    b, window=65536           #! error 27-32: window: 65536 is out of range, 0 to 65535
          st
        .endseq
        .seq    c, pop=-1                 #! error 24-26: pop: -1 is out of range, 0 to 65535
          st
        .endseq
