# Packets do not.
        .core   pe
        .seq    s
          st
          exe   ib=0                      #! error 11-14: exe is inside of a sequence | end the sequence 's' with .endseq before it
        .endseq
