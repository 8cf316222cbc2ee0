# 32 instruction buffers.
        .core   pe
        .seq    s
        .then   ib=32                     #! error 20-22: ib: 32 is out of range, 0 to 31
          st
        .endseq
